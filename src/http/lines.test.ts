import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { linesOf } from "./lines.ts";
import { type TestSite, testSite } from "./test-site.suite.ts";

describe("linesOf()", () => {
  test("has a line for each value, with its path", () => {
    const lease = {
      id: "1",
      endsAt: null,
      labels: { "a.b": "x=y", c: "" },
      claims: [{ pool: "aws", fence: 17, cluster: true }],
      none: [],
      absent: undefined,
    };
    expect(linesOf(lease).split("\n")).toEqual([
      "id=1",
      "endsAt=",
      "labels.a\\0056b=x=y",
      "labels.c=",
      "claims.0.pool=aws",
      "claims.0.fence=17",
      "claims.0.cluster=true",
      "",
    ]);
  });

  test("makes one line of text that would be several, or would act on a terminal", () => {
    const text = "a\nid=2\r\u001b[2J\u0000\u007f\u0085\u2028\u202e\\n é";
    const [line, ...others] = linesOf({ text }).split("\n");
    expect(others).toEqual([""]);
    expect(line).toMatch(/^text=a\\0012id=2\\0015\\0033\[2J\\0000\\0177/);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    expect(line?.endsWith("\\\\n é")).toBe(true);
  });

  // `printf %b` cannot make the character 0: no variable of a shell can have it.
  test("can be decoded by the shell, whatever the text is", () => {
    const texts = fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", "")));
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a shell's.
    const decode = 'while IFS= read -r line; do printf "%b\\001" "${line#*=}"; done';
    fc.assert(
      fc.property(texts, (values) => {
        const whole = values.filter((text) => text.isWellFormed() && !text.includes("\u0001"));
        const { stdout } = spawnSync("sh", ["-c", decode], { input: linesOf(whole) });
        expect(String(stdout).split("\u0001").slice(0, -1)).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  });
});

describe("Accept: text/plain", () => {
  let site: TestSite;
  beforeAll(async () => {
    site = await testSite([pool("aws", 1)]);
  });
  afterAll(() => site[Symbol.asyncDispose]());
  const headers = { accept: "text/plain" };
  const body = { holder: "me", items: [{ pool: "aws" }] };

  test("answers the calls of a job in lines, and problems as well", async () => {
    const granted = await site.call("POST /v1/leases", { body, headers });
    expect([granted.status, granted.type]).toEqual([201, "text/plain"]);
    const [, id = ""] = /^id=(.*)$/m.exec(granted.text) ?? [];
    const [, token = ""] = /^token=(.*)$/m.exec(granted.text) ?? [];
    expect(granted.text).toContain("\nclaims.0.pool=aws\n");
    const beat = await site.call(`POST /v1/leases/${id}/heartbeat`, { token, headers });
    expect([beat.status, beat.text.split("\n")[0]]).toEqual([200, `id=${id}`]);
    const waiting = await site.call("POST /v1/leases", { body, headers });
    expect([waiting.status, waiting.type]).toEqual([202, "text/plain"]);
    expect(waiting.text).toContain("\nposition=1\n");
    const pools = await site.call("GET /v1/pools", { headers });
    expect(pools.text).toContain("items.0.name=aws\n");
    expect((await site.call(`DELETE /v1/leases/${id}`, { token, headers })).status).toBe(204);
    const gone = await site.call(`POST /v1/leases/${id}/heartbeat`, { token, headers });
    expect([gone.status, gone.type]).toEqual([410, "text/plain"]);
    expect(gone.text).toContain("\ncode=lease_ended\n");
  });

  test.each([undefined, "*/*", "application/json, text/plain, */*", "text/html", "text/*"])(
    "%s still gets JSON",
    async (accept) => {
      const answer = await site.call("GET /v1/pools", accept ? { headers: { accept } } : {});
      expect([answer.status, answer.type]).toEqual([200, "application/json"]);
    },
  );

  test("does not change other calls", async () => {
    const answer = await site.call("GET /v1/spaces", { headers });
    expect(answer.type).toBe("application/json");
  });
});
