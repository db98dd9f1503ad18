/** Finds the lines of a command's output in which a cloud provider says that it throttles. */
import { readFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { plain } from "../terminal/text.ts";
import { InvalidValue, type Parse } from "../values.ts";

/**
 * Throttling messages of the large clouds. Messages about an exhausted quota are not in the list,
 * because starting more slowly would not help. Users can add them in a file of their own.
 */
export const knownPatterns: readonly RegExp[] = [
  /Throttling: Rate exceeded|ThrottlingException|RequestLimitExceeded/,
  /rateLimitExceeded|userRateLimitExceeded|Quota exceeded for quota metric .* per minute/,
  /The request is being throttled as the limit has been reached|TooManyRequests/,
  /\b429 Too Many Requests\b/i,
];

/** Accepts `known`, or a file with one regular expression per line; `#` starts a comment. */
export const parseLogPatterns: Parse<readonly RegExp[]> = (text) => {
  if (text === "known") return knownPatterns;
  let lines: string[];
  try {
    lines = readFileSync(text, "utf8").split("\n");
  } catch {
    throw new InvalidValue("there is no such file", 'Pass a file with patterns, or "known"');
  }
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(parsePattern);
};

function parsePattern(line: string, index: number): RegExp {
  try {
    return new RegExp(line);
  } catch (error) {
    const state = `pattern ${index + 1} is not a regular expression: ${String(error)}`;
    throw new InvalidValue(state, "Write one regular expression per line");
  }
}

/** A longer line is checked in pieces, so that an endless line does not fill the memory. */
const lineLengthMax = 16 * 1024;
const evidenceLengthMax = 500;

/** Reads one stream line by line and reports matching lines, without colours and shortened. */
export class LogWatch {
  readonly #patterns: readonly RegExp[];
  readonly #onMatch: (evidence: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  constructor(patterns: readonly RegExp[], onMatch: (evidence: string) => void) {
    this.#patterns = patterns;
    this.#onMatch = onMatch;
  }

  read(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#check(line);
    if (this.#rest.length > lineLengthMax) this.end();
  }

  /** Checks the last line, which may have no line break. */
  end(): void {
    this.#check(this.#rest);
    this.#rest = "";
  }

  #check(line: string): void {
    if (!this.#patterns.some((pattern) => pattern.test(line))) return;
    this.#onMatch(plain(line.replace(colours, "")).trim().slice(0, evidenceLengthMax));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are control characters.
const colours = /\u001b\[[0-9;]*[A-Za-z]/g;
