import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { runInProcess } from "./cli-in-process.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-token-"));
});
afterEach(() => rm(folder, { recursive: true }));

const make = (...more: string[]) => runInProcess(["token", "new", "--name", "ci", ...more], {});

test("token new prints the token to stdout, and its line to stderr", async () => {
  const { code, stdout, stderr } = await make("--expires", "9999-01-31");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^berth_[\w-]{43}\n$/);
  expect(stderr).toContain(`sha256: ${tokenHash(stdout.trim())}, space: default, role: holder`);
  expect(stderr).toContain('expires: "9999-01-31T00:00:00.000Z"');
  expect(stderr).not.toContain(stdout.trim());
});

test("token new --out writes a file that only its owner can read, and never replaces one", async () => {
  const file = join(folder, "ci.token");
  const made = await make("--out", file);
  const token = await readFile(file, "utf8");
  expect(made).toMatchObject({ code: 0, stdout: "" });
  expect(made.stderr).toContain(tokenHash(token.trim()));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await make("--out", file);
  expect(again).toMatchObject({ code: 64, stdout: "" });
  expect(again.stderr).toContain(`Cannot write --out "${file}": the file exists`);
  expect(await readFile(file, "utf8")).toBe(token);
});

test("token new --expires accepts a duration", async () => {
  const before = Date.now();
  const { stderr } = await make("--expires", "30d");
  const [, expires = ""] = /expires: "([^"]*)"/.exec(stderr) ?? [];
  expect(Date.parse(expires)).toBeGreaterThanOrEqual(before + 30 * 24 * 3_600_000);
  expect(Date.parse(expires)).toBeLessThanOrEqual(Date.now() + 30 * 24 * 3_600_000);
});

test.each([
  ["--expires", "2020-01-01", "it is in the past"],
  ["--expires", "0s", "it is in the past"],
  ["--expires", "2027-02-99", "it is not a time"],
  ["--expires", "soon", "it is not a time"],
  ["--name", "a b", "its form is wrong"],
])("token new refuses %s %s", async (name, text, state) => {
  const refused = await make(name, text);
  expect(refused).toMatchObject({ code: 64, stdout: "" });
  expect(refused.stderr).toContain(`Cannot use ${name} "${text}": ${state}`);
});

test("a command that calls no server says so if one is named", async () => {
  const named = await make("--server", "http://127.0.0.1:1");
  expect(named).toMatchObject({ code: 0 });
  expect(named.stderr).toContain("--server had no effect: no server was called");
  expect((await make()).stderr).not.toContain("--server");
});
