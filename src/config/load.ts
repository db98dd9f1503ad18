import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import { type ConfigProblem, tooLarge } from "./document.ts";
import { type Explanation, explainFault } from "./file-faults.ts";
import { janitorProgramsOf } from "./janitor-programs.ts";
import { fileBytesMax } from "./limits.ts";
import { type ParsedConfig, parseConfig } from "./parse.ts";
import type { SecretSource } from "./template-spec.ts";

/** What a file holds, or the one reason why nobody can tell. */
export type ConfigText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: ConfigProblem };

/** Reads and checks a file. All that can be wrong with a file is in the result, never thrown. */
export async function loadConfig(path: string, secrets?: WatchedSecrets): Promise<ParsedConfig> {
  return parseText(await readConfigText(path), path, secrets);
}

/** Secrets of Kubernetes that somebody looks at from time to time. */
export interface WatchedSecrets {
  /** Changes with what is in it; empty while it is as it was at first, or was never read. */
  hashOf(source: SecretSource): string;
  /** Reads those that were not read for a while. Never rejects. */
  refresh(sources: readonly SecretSource[]): Promise<void>;
}

export function parseText(read: ConfigText, path: string, secrets?: WatchedSecrets): ParsedConfig {
  if (!read.ok) return { ok: false, problems: [read.problem] };
  const hashOfSecret = secrets && ((source: SecretSource) => secrets.hashOf(source));
  const programs = { ...janitorProgramsOf(path), ...(hashOfSecret && { hashOfSecret }) };
  return parseConfig(read.text, path, programs);
}

export async function readConfigText(path: string): Promise<ConfigText> {
  let bytes: Buffer;
  try {
    bytes = await readUpToLimit(path);
  } catch (error) {
    return unreadable(path, explainFault(error));
  }
  if (bytes.length > fileBytesMax) return unreadable(path, tooLarge);
  if (!isUtf8(bytes)) return unreadable(path, notUtf8, firstBadByte(bytes));
  return { ok: true, text: new TextDecoder().decode(bytes) };
}

/** One byte more than is allowed tells enough; a pipe or a device has no size to ask for. */
async function readUpToLimit(path: string): Promise<Buffer> {
  await using file = await open(path);
  const chunks: Buffer[] = [];
  const stream = file.createReadStream({ end: fileBytesMax, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const notUtf8: Explanation = { state: "it is not UTF-8", hint: "save it as UTF-8" };

function unreadable(file: string, { state, hint }: Explanation, at = nowhere): ConfigText {
  const problem = { file, ...at, path: "", message: `Cannot read the file: ${state}`, hint };
  return { ok: false, problem };
}

const nowhere = { line: 0, column: 0 };

/** A multi-byte character never contains a line feed, so each line can be judged by itself. */
function firstBadByte(bytes: Buffer): { line: number; column: number } {
  let [line, start] = [1, 0];
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    if (!isUtf8(bytes.subarray(start, end))) break;
    line += 1;
    start = end + 1;
  }
  const text = bytes.subarray(start).toString();
  return { line, column: text.indexOf("\uFFFD") + 1 };
}
