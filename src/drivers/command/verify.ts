/**
 * Asks a program what is left of a destroyed cluster. A back end that says that all is gone has often
 * left something in the cloud; this does not ask the back end.
 */
import { type CallOptions, type ClusterRef, Retry } from "../driver.ts";
import type { SecretMask } from "../secret-mask.ts";
import { inheritedVariables } from "./inherited-variables.ts";
import { runProgram } from "./run-program.ts";
import { withSecretFile } from "./secret-folder.ts";

export interface VerifySettings {
  readonly command: readonly string[];
  readonly folder: string;
  readonly credentials: Readonly<Record<string, string>>;
}

const timeMsMax = 5 * 60_000;
const replyBytesMax = 1024 * 1024;
const logKeptBytes = 16 * 1024;
const quotedLengthMax = 2_000;

/** In words; empty if nothing is left. Rejects with `Retry` if the program does not say. */
export async function remainingOf(
  { command, folder, credentials }: VerifySettings,
  ref: ClusterRef,
  mask: SecretMask,
  { signal }: CallOptions = {},
): Promise<readonly string[]> {
  const { name, instance } = ref;
  const end = await withSecretFile(credentials, (path) =>
    runProgram({
      ...{ command, folder, timeMsMax, outputBytesMax: replyBytesMax, signal },
      env: {
        ...inheritedVariables(),
        ...(path === undefined ? undefined : { BERTH_CREDENTIALS: path }),
      },
      input: `${JSON.stringify({ name, instance })}\n`,
      keepBytes: { stdout: replyBytesMax, stderr: logKeptBytes },
    }),
  );
  const program = command[0]?.split("/").at(-1) ?? "";
  const left = end.code === 0 ? listIn(end.stdout) : undefined;
  if (left !== undefined) return left.map((text) => mask.clean(text));
  const state = end.code === 0 ? "printed no JSON list of texts in its last line" : end.why;
  const said = mask.clean(end.stderr).trim().slice(-quotedLengthMax);
  const why = said === "" ? "" : `: ${said}`;
  throw new Retry(`Cannot verify that the cluster is gone: ${program} ${state}${why}`);
}

function listIn(stdout: string): readonly string[] | undefined {
  try {
    const read: unknown = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
    return Array.isArray(read) && read.every((each) => typeof each === "string") ? read : undefined;
  } catch {
    return undefined;
  }
}
