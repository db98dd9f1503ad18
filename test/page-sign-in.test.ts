/** The page of a server with authentication, in a real browser, and a hostile page beside it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { chromiumPath, launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";

const [operator, holder] = ["operator-token-1", "holder-token-1"];
const tokens = [
  { name: "ann", sha256: tokenHash(operator), space: "ops", role: "operator" },
  { name: "ci", sha256: tokenHash(holder), space: "team", role: "holder" },
];

describe.skipIf(chromiumPath === undefined)("the page with authentication", () => {
  let server: TestServer;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    server = await TestServer.startWith({ pools: { aws: { count: 2 } }, auth: { tokens } });
    for (const token of [operator, holder]) await watchFor(token);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function signedIn(token: string) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    return { context, page };
  }

  test("asks for a token, refuses a wrong one with the reason, and shows who signed in", async () => {
    const { context, page } = await signedIn("wrong");
    await page.getByRole("alert").getByText("This server does not know this token").waitFor();
    await page.getByLabel("Token").fill(operator);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".pulse.live").waitFor({ state: "attached" });
    await page.locator(".signed-in", { hasText: "ann" }).waitFor();
    await page.getByRole("link", { name: "aws", exact: true }).first().waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: "berth_session", httpOnly: true, sameSite: "Strict" });
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.reload();
    await page.locator(".signed-in", { hasText: "ann" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });

  test("shows a lease and a waiting request to those who are signed in", async () => {
    const client = new BerthClient({ url: server.url, token: holder });
    const ask = (name: string) =>
      client.ask({ holder: name, items: [{ pool: "aws", count: 2 }], ttl: "10m" });
    const held = await ask("job/1");
    const waiting = await ask("job/2");
    if (!held.granted || waiting.granted) throw new Error("Only the first of them is granted");
    const { context, page } = await signedIn(operator);
    await page.locator(".signed-in").waitFor();
    for (const [path, name] of [
      [`/leases/${held.lease.id}`, "job/1"],
      [`/requests/${waiting.request.id}`, "job/2"],
    ] as const) {
      await page.goto(server.url + path);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.locator(".figures").waitFor();
    }
    await context.close();
    await client.leave({ ...waiting.request, token: waiting.request.token ?? "" });
    await client.release({ ...held.lease, token: held.lease.token ?? "" });
  });

  test("says by which rule others are ahead, as far as the reader may know them", async () => {
    const asking = (token: string, name: string) =>
      new BerthClient({ url: server.url, token }).ask({
        ...{ holder: name, items: [{ pool: "aws", count: 2 }], ttl: "10m" },
      });
    const held = await asking(holder, "job/3");
    const waiting = await asking(holder, "job/4");
    const ahead = await asking(operator, "ops/1");
    if (!held.granted || waiting.granted || ahead.granted) throw new Error("Only one is granted");
    const own = await signedIn(holder);
    await own.page.locator(".signed-in").waitFor();
    await own.page.goto(`${server.url}/requests/${waiting.request.id}`);
    await own.page
      .getByText("1 waiting space goes first: 1 with a lower share than team.")
      .waitFor();
    await own.context.close();
    const { context, page } = await signedIn(operator);
    await page.locator(".signed-in").waitFor();
    await page.goto(`${server.url}/requests/${waiting.request.id}`);
    await page.getByText("1 of a space with a lower share (ops: 0; its own, team: 1).").waitFor();
    await page.goto(`${server.url}/queue`);
    await page.getByText("Why a later request may start first").click();
    await page.getByText("Where spaces share a queue, they take turns by their shares").waitFor();
    await page.locator(".queue tr", { hasText: "job/4" }).getByText("1 ahead, of ops").waitFor();
    await context.close();
    for (const [token, { request }] of [
      [holder, waiting],
      [operator, ahead],
    ] as const) {
      const client = new BerthClient({ url: server.url, token });
      await client.leave({ ...request, token: request.token ?? "" });
    }
    const client = new BerthClient({ url: server.url, token: holder });
    await client.release({ ...held.lease, token: held.lease.token ?? "" });
  });

  test("lets an operator act under the name of the token, and a holder not at all", async () => {
    const { context, page } = await signedIn(operator);
    await page.locator(".signed-in").waitFor();
    await page.goto(`${server.url}/resources/aws-1`);
    await page.getByRole("button", { name: "Drain", exact: true }).click();
    await page.getByLabel("Why").fill("maintenance");
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
    await page.getByText("drained").first().waitFor();
    const headers = { authorization: `Bearer ${operator}` };
    const past = await fetch(`${server.url}/v1/events/past?resource=aws-1`, { headers });
    expect(await past.text()).toContain('"by":"ann","why":"maintenance"');
    await context.close();
    const other = await signedIn(holder);
    await other.page.locator(".signed-in", { hasText: "ci" }).waitFor();
    await other.page.goto(`${server.url}/resources/aws-1`);
    await other.page.getByText("only operators can act here, and ci has the role holder").waitFor();
    await other.context.close();
  });

  test("a page of another origin cannot act in the browser of an operator", async () => {
    const hostile = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>hostile</title>");
    });
    await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve));
    const port = (hostile.address() as AddressInfo).port;
    const { context, page } = await signedIn(operator);
    await page.locator(".signed-in").waitFor();
    // The same host with another port: cookies are sent, because they know no ports.
    await page.goto(`http://127.0.0.1:${port}/`);
    const statuses = await page.evaluate(async (url) => {
      const body = JSON.stringify({ drained: true });
      const tries: RequestInit[] = [
        { method: "PATCH", body, headers: { "content-type": "application/json" } },
        { method: "PATCH", body, mode: "no-cors" },
        { method: "POST", body, mode: "no-cors" },
      ];
      const seen: string[] = [];
      for (const init of tries) {
        const call = fetch(`${url}/v1/resources/aws-2`, { ...init, credentials: "include" });
        seen.push(await call.then(({ type, status }) => `${type} ${status}`, String));
      }
      seen.push(
        await fetch(`${url}/v1/leases`, { credentials: "include" }).then(
          async (reply) => `${reply.status} ${await reply.text()}`,
          String,
        ),
      );
      return seen;
    }, server.url);
    for (const seen of statuses) expect(seen).not.toMatch(/^(basic|cors|200)/);
    const headers = { authorization: `Bearer ${operator}` };
    const resource = await fetch(`${server.url}/v1/resources/aws-2`, { headers });
    expect(await resource.json()).toMatchObject({ drained: false });
    await context.close();
    await new Promise((resolve) => hostile.close(resolve));
  });
});
