/** What a command says is read along, for words by which clouds say "not so fast". */
import { readFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { plain } from "../terminal/text.ts";
import { InvalidValue, type Parse } from "../values.ts";

/**
 * How the large clouds word it. A quota that is used up is not among them: starting more slowly would
 * not help, and the file of one's own patterns is the place for such.
 */
export const knownPatterns: readonly RegExp[] = [
  /Throttling: Rate exceeded|ThrottlingException|RequestLimitExceeded/,
  /rateLimitExceeded|userRateLimitExceeded|Quota exceeded for quota metric .* per minute/,
  /The request is being throttled as the limit has been reached|TooManyRequests/,
  /\b429 Too Many Requests\b/i,
];

/** `known`, or a file with one regular expression per line; `#` begins a comment. */
export const logPatterns: Parse<readonly RegExp[]> = (text) => {
  if (text === "known") return knownPatterns;
  let lines: string[];
  try {
    lines = readFileSync(text, "utf8").split("\n");
  } catch {
    throw new InvalidValue("there is no such file", 'Name a file with patterns, or write "known"');
  }
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(patternOf);
};

function patternOf(line: string, index: number): RegExp {
  try {
    return new RegExp(line);
  } catch (error) {
    const state = `pattern ${index + 1} in it is none: ${String(error)}`;
    throw new InvalidValue(state, "Write one regular expression per line");
  }
}

/** A line that never ends is looked at in pieces. */
const lineLengthMax = 16 * 1024;
const evidenceLengthMax = 500;

/** Reads one stream line by line and tells of those that fit, without colours and cut short. */
export class LogWatch {
  readonly #patterns: readonly RegExp[];
  readonly #found: (evidence: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  constructor(patterns: readonly RegExp[], found: (evidence: string) => void) {
    this.#patterns = patterns;
    this.#found = found;
  }

  read(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#look(line);
    if (this.#rest.length > lineLengthMax) this.end();
  }

  /** What has no end of line is a line, too. */
  end(): void {
    this.#look(this.#rest);
    this.#rest = "";
  }

  #look(line: string): void {
    if (!this.#patterns.some((pattern) => pattern.test(line))) return;
    this.#found(plain(line.replace(colours, "")).trim().slice(0, evidenceLengthMax));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are spoken to in them.
const colours = /\u001b\[[0-9;]*[A-Za-z]/g;
