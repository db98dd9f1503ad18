/** The page behind a proxy that adds TLS, in a real browser: its session is sent encrypted only. */
import { request as forward } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { TestAuthority } from "../src/server/test-certificates.suite.ts";
import { chromiumPath, launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";

const operator = "operator-token-proxy";
const auth = {
  tokens: [{ name: "ann", sha256: tokenHash(operator), space: "ops", role: "operator" }],
};

/** As nginx does it: ends TLS, and says in headers what the browser asked for. */
async function tlsProxy(target: string): Promise<Server> {
  const { cert, key } = new TestAuthority().issue();
  const proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      "x-forwarded-for": incoming.socket.remoteAddress ?? "",
      "x-forwarded-proto": "https",
      "x-forwarded-host": incoming.headers.host ?? "",
    };
    const { method = "GET", url = "/" } = incoming;
    const call = forward(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    call.on("error", () => outgoing.destroy());
    outgoing.on("close", () => call.destroy());
    incoming.pipe(call);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}

describe.skipIf(chromiumPath === undefined)("the page behind a proxy that adds TLS", () => {
  let server: TestServer;
  let proxy: Server;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    const config = { pools: { aws: { count: 2 } }, auth };
    server = await TestServer.startWith(config, "--trust-proxy", "127.0.0.1");
    proxy = await tlsProxy(server.url);
    await watchFor(operator);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    proxy?.closeAllConnections();
    proxy?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test("has a cookie that only this host can set and that is never sent in clear", async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    const { port } = proxy.address() as AddressInfo;
    await page.goto(`https://localhost:${port}/`);
    await page.getByLabel("Token").fill(operator);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".signed-in", { hasText: "ann" }).waitFor();
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([
      { name: "__Host-berth_session", secure: true, httpOnly: true, sameSite: "Strict", path: "/" },
    ]);
    await page.goto(`https://localhost:${port}/resources/aws-1`);
    await page.locator(".pulse.live").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Drain", exact: true }).click();
    await page.getByLabel("Why").fill("maintenance");
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
    await page.getByText("drained").first().waitFor();
    // With TLS only the name with the prefix counts, which no other host can set.
    const [{ value = "" } = {}] = cookies;
    for (const name of ["__Host-berth_session", "berth_session"]) {
      const headers = { cookie: `${name}=${value}`, "x-forwarded-proto": "https" };
      const { status } = await fetch(`${server.url}/v1/pools`, { headers });
      expect([name, status]).toEqual([name, name.startsWith("__Host-") ? 200 : 401]);
    }
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });
});
