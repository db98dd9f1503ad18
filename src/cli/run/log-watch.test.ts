import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownPatterns, LogWatch, parseLogPatterns } from "./log-watch.ts";

function evidenceIn(...chunks: readonly string[]): string[] {
  const found: string[] = [];
  const watch = new LogWatch(knownPatterns, (evidence) => found.push(evidence));
  for (const chunk of chunks) watch.read(Buffer.from(chunk));
  watch.end();
  return found;
}

describe("LogWatch", () => {
  test.each([
    "Error: Throttling: Rate exceeded",
    "api error ThrottlingException: slow down",
    "RequestLimitExceeded: Request limit exceeded.",
    "googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded",
    "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'",
    "The request is being throttled as the limit has been reached for operation type",
    "Code: TooManyRequests",
    "HTTP 429 Too Many Requests",
  ])("matches %s", (line) => {
    expect(evidenceIn(`level=info\n${line}\n`)).toEqual([line]);
  });

  test.each(["level=info msg=Creating", "quota: 429 of 500 used", "SkuNotAvailable"])(
    "does not match %s",
    (line) => expect(evidenceIn(`${line}\n`)).toEqual([]),
  );

  test("joins lines that arrive in pieces, and reads a last line without a line break", () => {
    expect(evidenceIn("x\nrateLimit", "Exceeded é".slice(0, 9), "\nTooManyRequests")).toEqual([
      "rateLimitExceeded",
      "TooManyRequests",
    ]);
  });

  test("reports the line without colours, cut to the maximum length", () => {
    const [evidence = ""] = evidenceIn(`\u001b[31mTooManyRequests\u001b[0m\t${"x".repeat(900)}\n`);
    expect(evidence).toMatch(/^TooManyRequests x+$/);
    expect(evidence).toHaveLength(500);
  });

  test("does not buffer an endless line", () => {
    const [piece = "", ...more] = evidenceIn(`TooManyRequests${"x".repeat(20_000)}`, "y".repeat(9));
    expect([piece.slice(0, 16), more]).toEqual(["TooManyRequestsx", []]);
  });
});

describe("parseLogPatterns()", () => {
  test("reads a file, one pattern per line, without comments", () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-patterns-"));
    const file = join(folder, "patterns");
    writeFileSync(file, "# what our cloud says\n\nslow +down\nSkuNotAvailable\n");
    expect(parseLogPatterns(file)).toEqual([/slow +down/, /SkuNotAvailable/]);
    writeFileSync(file, "(\n");
    expect(() => parseLogPatterns(file)).toThrow(/pattern 1 is not a regular expression/);
    rmSync(folder, { recursive: true });
    expect(() => parseLogPatterns(file)).toThrow("there is no such file");
  });
});
