/** People sign in to the page through a real OpenID provider, in a real browser. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";
import { clientSecret, issuerFor, PeopleProvider, signInAtProvider } from "./people-provider.ts";

const button = "Sign in with Acme account";

describe.skipIf(chromiumPath === undefined)("the page with an issuer", () => {
  let provider: PeopleProvider;
  let server: TestServer;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  let context: BrowserContext;

  beforeAll(async () => {
    provider = await PeopleProvider.start();
    const auth = { issuers: [issuerFor(provider)] };
    server = await TestServer.startWith({ pools: { aws: { count: 2 } }, auth });
    await watchFor(clientSecret);
    await writeFile(join(server.folder, "sign-in.secret"), `${clientSecret}\n`);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await context?.close();
    provider.comeBack();
  });

  /** A browser without any cookies, at the page; the provider forgets everybody. */
  async function open(path = "/", settings = {}): Promise<Page> {
    provider.configure({ pageUrl: server.url, ...settings });
    context = await browser.newContext();
    // The pages of the provider want a font from elsewhere.
    await context.route(/googleapis/, (route) => route.abort());
    const page = await context.newPage();
    await page.goto(server.url + path);
    return page;
  }

  const callbackOf = (page: Page) =>
    page.waitForRequest((request) => request.url().includes("/sign-in/callback?"));

  test("signs a person in, returns to where one was, shows who it is, and signs out", async () => {
    const page = await open("/resources/aws-1?from=a%20link");
    await page.getByRole("button", { name: button }).click();
    await signInAtProvider(page, "ann");
    await page.locator(".signed-in", { hasText: "ann@example.org operator, ops" }).waitFor();
    expect(page.url()).toBe(`${server.url}/resources/aws-1?from=a%20link`);
    const [cookie] = (await context.cookies()).filter(({ name }) => name === "berth_session");
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    const leftSeconds = (cookie?.expires ?? 0) - Date.now() / 1_000;
    expect(leftSeconds).toBeLessThanOrEqual(601); // As long as the id token.
    expect(leftSeconds).toBeGreaterThan(500);
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).toBe("{}");
    await page.getByRole("button", { name: "Drain", exact: true }).click();
    await page.getByLabel("Why").fill("maintenance");
    await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
    await page.getByText("drained").first().waitFor();
    await page.reload();
    await page.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out of Berth").waitFor();
    expect((await context.cookies()).map(({ name }) => name)).not.toContain("berth_session");
    // At the issuer too.
    await page.getByRole("link", { name: /Sign out of 127.0.0.1/ }).click();
    await page.getByRole("button", { name: /Yes/i }).click();
    await page.getByRole("button", { name: button }).waitFor();
    expect(page.url()).toBe(`${server.url}/`);
  });

  test("asks to sign in again when the id token has expired, and goes on where one was", async () => {
    const page = await open("/queue", { idTokenSeconds: 3 });
    await page.getByRole("button", { name: button }).click();
    await signInAtProvider(page, "bob");
    await page.locator(".signed-in", { hasText: "bob@example.org holder, team" }).waitFor();
    await page.getByText("Your session has ended").waitFor();
    expect(page.url()).toBe(`${server.url}/queue`);
    // The provider still knows him.
    await page.getByRole("button", { name: button }).click();
    await page.locator(".signed-in", { hasText: "bob@example.org" }).waitFor();
    expect(page.url()).toBe(`${server.url}/queue`);
  });

  test("says so if the person cancels", async () => {
    const page = await open();
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("link", { name: "[ Cancel ]" }).click();
    await page.getByRole("alert").getByText("it was cancelled or denied").waitFor();
    await page.getByText("Sign in again, and allow it").waitFor();
    expect(page.url()).toBe(`${server.url}/`);
  });

  test("says so if no rule is for the person", async () => {
    const page = await open();
    await page.getByRole("button", { name: button }).click();
    await signInAtProvider(page, "eve");
    const alert = page.getByRole("alert");
    await alert.getByText(/Cannot do this as "eve": no rule of the issuer/).waitFor();
    await alert.getByText("Ask an admin of the server for a rule").waitFor();
    expect((await context.cookies()).map(({ name }) => name)).not.toContain("berth_session");
  });

  test("says so if the issuer is down before or after the person has signed in", async () => {
    const page = await open();
    await page.getByRole("button", { name: button }).click();
    await page.locator('input[name="login"]').fill("ann");
    await page.locator('input[name="password"]').fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    provider.trouble = (request, response) => {
      if (request.url === "/token") request.socket.destroy();
      else provider.answer(request, response);
    };
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").getByText("the server gets no answer of the issuer").waitFor();
    provider.trouble = (request, response) => {
      if (request.url === "/token") response.writeHead(500).end("nonsense");
      else provider.answer(request, response);
    };
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("alert").getByText("the server gets no answer of the issuer").waitFor();
    provider.comeBack();
    await page.getByRole("button", { name: button }).click();
    await page.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
  });

  test("refuses a state that is not its own, and a code that was used", async () => {
    const page = await open();
    await page.getByRole("button", { name: button }).click();
    const returned = callbackOf(page);
    await signInAtProvider(page, "ann");
    const used = new URL((await returned).url());
    await page.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
    await page.goto(used.href);
    await page.getByRole("alert").getByText("this server did not begin it").waitFor();
    expect(page.url()).not.toContain("code=");
    // With a sign-in of its own under way.
    const begun = await begin(page);
    await page.evaluate((text) => sessionStorage.setItem("berth.sign-in", text), begun.text);
    await page.goto(used.href);
    await page.getByRole("alert").getByText("the answer belongs to another sign-in").waitFor();
    await page.evaluate((text) => sessionStorage.setItem("berth.sign-in", text), begun.text);
    used.searchParams.set("state", begun.state);
    await page.goto(used.href);
    await page.getByRole("alert").getByText("the code was used before, or is too old").waitFor();
    for (const part of [used.searchParams.get("code") ?? "none", clientSecret]) {
      expect(server.log).not.toContain(part);
    }
  });

  /** Begins a sign-in, and does not go to the provider. */
  async function begin(page: Page): Promise<{ text: string; state: string }> {
    const { location, transaction } = await page.evaluate(async (issuer) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ issuer });
      const answer = await fetch("/v1/sign-in", { method: "POST", headers, body });
      return Object(await answer.json());
    }, provider.url);
    const state = new URL(location).searchParams.get("state") ?? "";
    return { text: JSON.stringify({ transaction, returnTo: "/" }), state };
  }

  test("two tabs sign in at the same time", async () => {
    const first = await open("/queue");
    const second = await context.newPage();
    await second.goto(`${server.url}/leases`);
    await first.getByRole("button", { name: button }).click();
    await second.getByRole("button", { name: button }).click();
    await signInAtProvider(first, "ann");
    await first.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
    await signInAtProvider(second, "ann");
    await second.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
    expect([first.url(), second.url()]).toEqual([`${server.url}/queue`, `${server.url}/leases`]);
    await first.reload();
    await first.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
  });
});
