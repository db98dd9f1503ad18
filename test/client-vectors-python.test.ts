/** The Python client against all vectors. */
import { fileURLToPath } from "node:url";
import { Process } from "./cli-processes.ts";
import { driverError, driverRun } from "./client-driver.ts";
import { testVectors } from "./client-vectors.suite.ts";
import { noPython, python } from "./python-program.ts";

const program = fileURLToPath(new URL("../clients/python/tests/vectors.py", import.meta.url));

testVectors(
  {
    start: (run) => {
      const env = { ...run.env, PYTHONDONTWRITEBYTECODE: "1" };
      return new Process(python, [program, driverRun(run)], env);
    },
    errorOf: driverError,
  },
  noPython,
);
