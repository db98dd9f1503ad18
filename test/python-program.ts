/** Python, for tests of our own Python code, which needs no packages. */
import { spawnSync } from "node:child_process";

const mustBeThere = process.env["BERTH_PYTHON_TESTS"] === "required";

/** The program itself: a shim that finds it would need the environment of the user. */
const found = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
});

export const python = found.status === 0 ? found.stdout.trim() : "python3";

/** Why the tests cannot run; false if they can. For `context.skip`. */
export const noPython =
  found.status !== 0 &&
  !mustBeThere &&
  "they need Python 3.9 or later, which this machine does not have";
