import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { logLevels } from "./logger.ts";

/** What a process that logs so writes to standard error, and to standard output. */
function logged(statement: string): { stderr: string; stdout: string } {
  const module = JSON.stringify(new URL("./logger.ts", import.meta.url).href);
  const script = `import { makeLogger } from ${module}; const log = makeLogger("info", false); ${statement}`;
  const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  return { stderr, stdout };
}

test("makeLogger() writes one JSON object per line to standard error", () => {
  const { stderr, stdout } = logged(
    'log.info({ pool: "aws" }, "one"); log.debug("no"); log.warn("two");',
  );
  expect(stdout).toBe("");
  expect(
    stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { level: "info", pool: "aws", msg: "one", time: expect.stringMatching(/^\d{4}-.*Z$/) },
    { level: "warn", msg: "two" },
  ]);
});

test("makeLogger() hides what could be a secret, should somebody log it", () => {
  const { stderr } = logged(`log.error({
    token: "s3cret",
    userData: { key: "s3cret" },
    claim: { userData: { key: "s3cret" } },
    lease: { token: "s3cret" },
    headers: { authorization: "s3cret" },
    req: { headers: { authorization: "s3cret" } },
  }, "oops");`);
  expect(stderr).toContain("oops");
  expect(stderr).not.toContain("s3cret");
});

test("logLevels go from the most to the least that is told", () => {
  expect(logLevels).toEqual(["trace", "debug", "info", "warn", "error", "fatal", "silent"]);
});
