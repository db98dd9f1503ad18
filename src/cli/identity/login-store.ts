/**
 * The logins of this user, by server, in one file that only the user can read. Several commands may
 * run at once, so a change is made under a lock and replaces the file as a whole.
 */
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { PersonClient, PersonTokens } from "../../auth/sign-in/person-tokens.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { loginsPath } from "./logins-path.ts";

export interface Login extends PersonClient, PersonTokens {}

type Logins = Readonly<Record<string, Login>>;

/** A command that holds the lock for longer was killed. */
const lockMs = 30_000;
const lockPauseMs = 50;

/** None if there is no file. Throws if others can read it. */
export async function readLogins(path = loginsPath()): Promise<Logins> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw unsafe(path, "other users can read it", `chmod 600 ${path}`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (codeOf(error) === "ENOENT") return {};
    throw unsafe(path, codeOf(error), "Check the file and its rights");
  }
  try {
    const { logins } = JSON.parse(text);
    return Object(logins) as Logins;
  } catch {
    throw unsafe(path, "it is damaged", "Remove the file, and run berth login again");
  }
}

/** Changes the login of one server. `change` gets the present one, and undefined removes it. */
export async function changeLogin(
  server: string,
  change: (present: Login | undefined) => Promise<Login | undefined>,
): Promise<Login | undefined> {
  const path = loginsPath();
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await using _lock = await lock(`${path}.lock`);
    const { [server]: present, ...others } = await readLogins(path);
    const next = await change(present);
    if (next === present) return next;
    const logins = next === undefined ? others : { ...others, [server]: next };
    const draft = `${path}.${process.pid}.new`;
    await writeFile(draft, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, path);
    return next;
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw unsafe(path, codeOf(error), "Set XDG_STATE_HOME to a folder that you can write");
  }
}

async function lock(path: string): Promise<AsyncDisposable> {
  let seen = { ino: 0, atMs: 0 };
  for (;;) {
    try {
      await (await open(path, "wx", 0o600)).close();
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const made = await stat(path).catch(() => undefined);
    if (made !== undefined) {
      if (made.ino !== seen.ino) seen = { ino: made.ino, atMs: performance.now() };
      const ageMs = Date.now() - made.mtimeMs;
      if (isAbandoned(ageMs, performance.now() - seen.atMs)) await rm(path, { force: true });
    }
    await pause(lockPauseMs);
  }
}

/** `ageMs` is negative if the clock was set back since: then it counts for how long this command has seen the lock. */
export function isAbandoned(ageMs: number, seenForMs: number): boolean {
  return Math.max(ageMs, seenForMs) > lockMs;
}

function unsafe(path: string, state: string, hint: string): CliError {
  return new CliError(`Cannot use the logins in "${path}": ${state}`, hint, exitCodes.usage);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
}
