/** Programs around the libraries: they get a run as JSON, and print `error CODE` at their end. */
import type { Process } from "./cli-processes.ts";
import type { ClientRun } from "./client-vectors.suite.ts";

export function driverRun({ ask, url, work, doneFile }: ClientRun): string {
  return JSON.stringify({ ask, url, work, doneFile });
}

/** Null: it has reported no error. */
export function driverError({ stdout }: Process): string | null {
  const [, code] = /^error (.*)$/m.exec(stdout) ?? [];
  return code === undefined || code === "none" ? null : code;
}
