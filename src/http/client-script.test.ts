import { afterEach, expect, test } from "vitest";
import { testAuth } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { Proxies } from "./proxies.ts";
import { type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;
afterEach(() => site[Symbol.asyncDispose]());

const callers = { listens: ["0.0.0.0"], hosts: ["berth.example"] };

async function servedBy(headers: Record<string, string>): Promise<string | undefined> {
  const { text } = await site.call("GET /client.sh", { headers });
  return /^berth_served_by='(.*)'$/m.exec(text)?.[1];
}

test("/client.sh is for everybody, and knows the address by which it was fetched", async () => {
  site = await testSite([pool("aws", 1)], {}, callers);
  const answer = await site.call("GET /client.sh");
  expect([answer.status, answer.type]).toEqual([200, "text/x-shellscript"]);
  expect(answer.headers).toMatchObject({ "x-content-type-options": "nosniff" });
  expect(answer.text).toMatch(/^#!\/bin\/sh\n/);
  expect(answer.text).toMatch(/^main "\$@"; exit\n$/m);
  expect(await servedBy({ host: "berth.example:8080" })).toBe("http://berth.example:8080");
  expect(await servedBy({ host: "10.0.0.7" })).toBe("http://10.0.0.7");
  expect(await servedBy({ host: "[::1]:80" })).toBe("http://[::1]:80");
});

test("a host that is not known or has odd characters gets no script of ours", async () => {
  site = await testSite([pool("aws", 1)], {}, callers);
  for (const host of ["evil.example", "a'; id #", "berth.example'"]) {
    const { status } = await site.call("GET /client.sh", { headers: { host } });
    expect(status, host).toBe(421);
  }
});

test("with authentication it names no address at which a token would travel unencrypted", async () => {
  const proxies = new Proxies(["127.0.0.1"]);
  site = await testSite([pool("aws", 1)], {}, callers, testAuth, proxies);
  expect(await servedBy({ host: "berth.example" })).toBe("");
  const secure = { host: "berth.example", "x-forwarded-proto": "https" };
  expect(await servedBy(secure)).toBe("https://berth.example");
  expect(await servedBy({ host: "127.0.0.1:8080" })).toBe("http://127.0.0.1:8080");
});
