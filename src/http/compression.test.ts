import { get } from "node:http";
import { createGunzip, gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { acceptsGzip } from "./compression.ts";
import { askBody, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;

beforeEach(async () => {
  site = await testSite(Array.from({ length: 20 }, (_, index) => pool(`aws-${index}`, 2)));
});
afterEach(() => site[Symbol.asyncDispose]());

const gzip = { "accept-encoding": "gzip, deflate" };

async function read(path: string, headers: Record<string, string> = gzip, method = "GET") {
  const answer = await site.app.inject({ method: method as "GET", url: path, headers });
  return { ...answer.headers, bytes: answer.rawPayload };
}

describe("compression", () => {
  test.each(["/v1/pools", "/v1/resources?limit=40", "/metrics"])("of %s", async (path) => {
    const plain = await read(path, {});
    const zipped = await read(path);
    expect(plain).not.toHaveProperty("content-encoding");
    expect(plain).toMatchObject({ vary: expect.stringContaining("accept-encoding") });
    expect(zipped).toMatchObject({
      "content-encoding": "gzip",
      "content-type": plain["content-type"],
      "content-length": String(zipped.bytes.length),
      vary: expect.stringContaining("accept-encoding"),
    });
    const firstLine = (text: string) => text.slice(0, 40);
    expect(firstLine(gunzipSync(zipped.bytes).toString())).toBe(firstLine(plain.bytes.toString()));
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 3);
  });

  test("leaves short answers alone", async () => {
    const granted = await site.call("POST /v1/leases", { body: askBody("aws-1"), headers: gzip });
    expect(granted.status).toBe(201);
    expect(granted.headers).not.toHaveProperty("content-encoding");
    expect(granted.headers).not.toHaveProperty("vary");
  });

  test("of a HEAD request names the length of the compressed answer", async () => {
    const head = await read("/v1/pools", gzip, "HEAD");
    const whole = await read("/v1/pools");
    expect(head["content-length"]).toBe(whole["content-length"]);
    expect(head.bytes).toHaveLength(0);
  });

  test("of the page happens once, not twice", async () => {
    const page = await read("/", { ...gzip, accept: "text/html" });
    expect(gunzipSync(page.bytes).toString()).toContain("<!doctype html>");
  });

  test.each([
    [undefined, false],
    ["", false],
    ["identity", false],
    ["br, zstd", false],
    ["gzip", true],
    ["deflate, GZIP;q=0.5, br", true],
    ["x-gzip", true],
    ["*", true],
    ["*;q=0", false],
    ["gzip;q=0, *", false],
    ["gzip; q=0.0", false],
    ["gzip;q=0.001", true],
  ])("acceptsGzip() of %j is %j", (accepted, want) => {
    const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
    expect(acceptsGzip({ headers })).toBe(want);
  });
});

describe("the compressed event feed", () => {
  test("delivers every event at once", async () => {
    const url = await site.listen();
    const feed = await new Promise<import("node:http").IncomingMessage>((resolve) => {
      get(`${url}/v1/events`, { headers: gzip }, resolve);
    });
    expect(feed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    const texts = feed.pipe(createGunzip())[Symbol.asyncIterator]();
    const next = async () => String((await texts.next()).value);
    expect(await next()).toBe("retry: 1000\n\n");
    for (const id of ["aws-1", "aws-2"]) {
      await site.call("POST /v1/leases", { body: askBody(id) });
      expect(await next()).toContain(`"resource":"${id}-1"`);
    }
    feed.destroy();
  });
});
