import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";

const states: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "this user may not read it",
};

/** Why a file cannot be read, in words; undefined if the error is another one. */
export function unreadableText(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? states[String(error.code)] : undefined;
}

/** Reads a file, or standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  if (file === "-") return text(process.stdin);
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const state = unreadableText(error);
    if (state === undefined) throw error;
    const hint = "Check the path, or pass - for standard input";
    throw new CliError(`Cannot read "${file}": ${state}`, hint, exitCodes.notFound);
  }
}
