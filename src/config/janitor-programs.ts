import { constants as access, accessSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { SecretSource } from "./template-spec.ts";

/** How the programs of janitors, and other files, are found. Without it they stay as written. */
export interface JanitorPrograms {
  /** The path or name to start. */
  find(written: string): string;
  /** Why it cannot be started on this machine; undefined if it can. */
  faultOf(program: string): ProgramFault | undefined;
  /** The absolute path of another file that the configuration names, such as a kubeconfig. */
  pathOf(written: string): string;
  /** Changes with what is in a Secret of Kubernetes. Absent: nobody reads Secrets here. */
  hashOfSecret?(source: SecretSource): string;
}

export interface ProgramFault {
  readonly state: string;
  readonly hint: string;
}

/**
 * Programs next to a configuration file: a relative path is relative to the file, because a server
 * may be started in any folder. A name without a slash is looked up in PATH.
 */
export function janitorProgramsOf(
  file: string,
  searchPath: string = process.env["PATH"] ?? "",
): JanitorPrograms {
  const folder = dirname(resolve(file));
  return {
    find: (written) => (written.includes("/") ? resolve(folder, written) : written),
    pathOf: (written) => resolve(folder, written),
    faultOf: (program) => faultOfProgram(program, searchPath),
  };
}

/** Why a program with this path or name cannot be started here; undefined if it can. */
export function faultOfProgram(
  program: string,
  searchPath: string = process.env["PATH"] ?? "",
): ProgramFault | undefined {
  const places = program.includes("/")
    ? [program]
    : searchPath.split(delimiter).map((each) => join(each, program));
  const faults = places.map(faultAt);
  if (faults.includes(undefined)) return undefined;
  return faults.find((fault) => fault !== missing) ?? missing;
}

const missing: ProgramFault = {
  state: "there is no such program",
  hint: "check the path, which is relative to this file, or the name and PATH",
};
const notAFile: ProgramFault = { state: "it is not a file", hint: "name a program in it" };
const notExecutable: ProgramFault = { state: "it is not executable", hint: "use chmod +x" };

function faultAt(place: string): ProgramFault | undefined {
  try {
    if (!statSync(place).isFile()) return notAFile;
  } catch {
    return missing;
  }
  try {
    accessSync(place, access.X_OK);
    return undefined;
  } catch {
    return notExecutable;
  }
}
