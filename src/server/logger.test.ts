import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { logLevels } from "./logger.ts";

/** Returns what a process with this log statement writes to standard error and standard output. */
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

test("makeLogger() masks fields that may contain a secret", () => {
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

test("makeLogger() masks registered values in every part of a line", () => {
  const module = JSON.stringify(new URL("../vault/redactor.ts", import.meta.url).href);
  const { stderr } = logged(`
    const { Redactor } = await import(${module});
    const redactor = new Redactor();
    const known = makeLogger("info", false, redactor);
    redactor.register("pass\\nword-17");
    const err = new Error("login with pass\\nword-17 failed");
    known.error({ err, deep: { list: ["pass\\nword-17"] } }, "pass\\nword-17 was refused");
    known.child({ part: "pass\\nword-17" }).info("child");
  `);
  expect(stderr.trim().split("\n")).toHaveLength(2);
  expect(stderr).toContain("[hidden] was refused");
  expect(stderr).not.toContain("word-17");
});

test("logLevels are in order from the most to the fewest messages", () => {
  expect(logLevels).toEqual(["trace", "debug", "info", "warn", "error", "fatal", "silent"]);
});
