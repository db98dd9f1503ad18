/** Programs of other people that tests of the package and of `deploy/` call. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where the tests must not be left out, as in CI, a missing program is a failure. */
const mustBeThere = process.env["BERTH_DEPLOY_TESTS"] === "required";

/** Why a test that calls this program cannot run; false if it can. For `context.skip`. */
export function without(program: string, debianPackage: string): string | false {
  if (mustBeThere || isInstalled(program)) return false;
  return `they need ${program}: on Debian, apt-get install ${debianPackage}`;
}

export function isInstalled(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export function ran(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Ran {
  const all = { encoding: "utf8", maxBuffer: 64e6, ...options } as const;
  const { status, stdout, stderr, error } = spawnSync(file, args, all);
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

/** The same, and throws with its output if it fails. */
export function output(...call: Parameters<typeof ran>): string {
  const { status, stdout, stderr } = ran(...call);
  if (status === 0) return stdout;
  throw new Error(`${call[0]} ${call[1].join(" ")} exited with ${status}:\n${stdout}${stderr}`);
}
