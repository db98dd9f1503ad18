/** Go, for tests of our own Go code, which needs no modules. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const goClientFolder = fileURLToPath(new URL("../clients/go", import.meta.url));

/** Where the tests must not be left out, as in CI on a machine with Go, a missing Go is a failure. */
const mustBeThere = process.env["BERTH_GO_TESTS"] === "required";

const path = ["go", "/usr/local/go/bin/go"].find((name) => isThere(name));

function isThere(name: string): boolean {
  if (name.includes("/")) return existsSync(name);
  try {
    execFileSync(name, ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Why the tests cannot run; false if they can. For `context.skip`. */
export const noGo =
  path === undefined &&
  !mustBeThere &&
  "they need Go 1.22 or later, which this machine does not have";

/** Runs Go in the folder of the client, and returns what it prints. Throws with all of it if Go fails. */
export function go(...args: string[]): string {
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly" };
  const ended = spawnSync(path ?? "go", args, { cwd: goClientFolder, env, encoding: "utf8" });
  if (ended.error) throw ended.error;
  // A failed test prints the reason to stdout.
  if (ended.status !== 0) throw new Error(`go ${args.join(" ")}:\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}
