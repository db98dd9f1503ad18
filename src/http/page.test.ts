import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import type { App } from "./context.ts";
import { notBuilt, Page } from "./page.ts";
import { type TestSite, testSite } from "./test-site.suite.ts";

const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the server", () => {
  let site: TestSite;
  beforeAll(async () => {
    site = await testSite([pool("aws", 1)]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.each(["/", "/pools/aws", "/leases/x?tab=1", "/whatever"])(
    "shows the page at %s to a browser, and nothing to a probe",
    async (path) => {
      const shown = await site.call(`GET ${path}`, { headers: html });
      expect(shown).toMatchObject({ status: 200, type: "text/html" });
      expect(shown.headers).toMatchObject({
        "cache-control": "no-cache",
        "content-security-policy": expect.stringContaining("script-src 'self';"),
      });
      for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
        const nothing = { status: 200, text: "", headers: { "content-length": "0" } };
        expect(await site.call(`GET ${path}`, { headers })).toMatchObject(nothing);
      }
    },
  );

  test.each([`/pools/%zz`, "/%", "/%E0%A4%A"])(
    "shows the page at %s, which nobody can decode, to a browser only",
    async (path) => {
      const shown = await site.call(`GET ${path}`, { headers: html });
      expect(shown).toMatchObject({ status: 200, type: "text/html" });
      expect(shown.headers).toMatchObject({
        "content-security-policy": expect.stringContaining("script-src 'self';"),
      });
      const refused = { status: 400, type: "application/problem+json" };
      expect(await site.call(`GET ${path}`)).toMatchObject(refused);
      expect(await site.call(`POST ${path}`, { headers: html })).toMatchObject(refused);
      expect(await site.call(`GET /v1${path}`, { headers: html })).toMatchObject(refused);
    },
  );

  test("shows it for a look only", async () => {
    expect(await site.call("POST /pools/aws", { headers: html })).toMatchObject({ text: "" });
  });

  test.each(["/v1/pools", "/docs", "/healthz"])("keeps %s as it is", async (path) => {
    const { text } = await site.call(`GET ${path}`, { headers: html });
    expect(text).not.toContain("<title>Berth</title>");
  });

  test("says under /v1 that there is no such call, to browsers too", async () => {
    const answer = await site.call("GET /v1/nothing", { headers: html });
    expect(answer).toMatchObject({ status: 404, type: "application/problem+json" });
  });
});

describe("Page", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-page-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function served(): Promise<App> {
    const app = fastify() as unknown as App;
    (await Page.load(pathToFileURL(`${folder}/`))).routes(app);
    return app;
  }

  test("says how to build it when it is not built", async () => {
    const { body } = await (await served()).inject({ url: "/", headers: html });
    expect(body).toContain("npm run build:web");
  });

  test("keeps what is named after its content for good, and zips it for who can read that", async () => {
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), "<p>built</p>");
    await writeFile(join(folder, "assets", "main-abc123.js"), "let a;");
    const app = await served();
    expect((await app.inject({ url: "/", headers: html })).body).toBe("<p>built</p>");
    const script = await app.inject("/assets/main-abc123.js");
    expect(script.body).toBe("let a;");
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
    });
    const headers = { "accept-encoding": "gzip, br" };
    const zipped = await app.inject({ url: "/assets/main-abc123.js", headers });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(zipped.rawPayload).toString()).toBe("let a;");
  });
});

test("notBuilt() names npm scripts only where there is a checkout", () => {
  expect(notBuilt(true)).toContain("npm run build:web");
  expect(notBuilt(false)).not.toContain("npm");
});
