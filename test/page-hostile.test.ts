/** What a hostile page in the browser of an operator can do about the sign-in: nothing. */
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chromiumPath, launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { clientSecret, issuerFor, PeopleProvider, signInAtProvider } from "./people-provider.ts";

const button = "Sign in with Acme account";

describe.skipIf(chromiumPath === undefined)("a hostile page", () => {
  let provider: PeopleProvider;
  let server: TestServer;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  let victim: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    provider = await PeopleProvider.start();
    const auth = { issuers: [issuerFor(provider)] };
    server = await TestServer.startWith({ pools: { aws: { count: 2 } }, auth });
    await writeFile(join(server.folder, "sign-in.secret"), clientSecret);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    provider.configure({ pageUrl: server.url });
    victim = await newBrowser();
    page = await victim.newPage();
  });
  afterEach(() => victim.close());

  async function newBrowser(): Promise<BrowserContext> {
    const context = await browser.newContext();
    await context.route(/googleapis/, (route) => route.abort());
    return context;
  }

  /** A page on another port of the same host: it gets the cookies of the server, and can set some. */
  async function sibling(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
    const site = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      answer(request, response);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
      async [Symbol.asyncDispose]() {
        site.closeAllConnections();
        await new Promise((resolve) => site.close(resolve));
      },
    };
  }

  async function signIn(at: Page, name: string): Promise<void> {
    await at.goto(server.url);
    await at.getByRole("button", { name: button }).click();
    await signInAtProvider(at, name);
    await at.locator(".signed-in", { hasText: `${name}@example.org` }).waitFor();
  }

  const sessionOf = async (context: BrowserContext) =>
    (await context.cookies()).find(({ name }) => name === "berth_session")?.value;

  test("cannot begin or finish a sign-in, and cannot sign anybody out", async () => {
    await signIn(page, "ann");
    const session = await sessionOf(victim);
    await using hostile = await sibling((_, response) => response.end("<title>hostile</title>"));
    await page.goto(hostile.url);
    const seen = await page.evaluate(
      async ([url, issuer]) => {
        const answers: string[] = [];
        const calls: [string, string, object][] = [
          ["POST", "/v1/sign-in", { issuer }],
          ["POST", "/v1/sign-in/finish", { transaction: "x", answer: "code=x&state=x" }],
          ["POST", "/v1/session", { token: "x" }],
          ["DELETE", "/v1/session", {}],
        ];
        for (const [method, path, body] of calls) {
          for (const mode of ["cors", "no-cors"] as const) {
            const init = {
              method,
              mode,
              credentials: "include",
              body: JSON.stringify(body),
            } as const;
            answers.push(
              await fetch(`${url}${path}`, init).then(
                ({ type, status }) => `${type} ${status}`,
                String,
              ),
            );
          }
        }
        return answers;
      },
      [server.url, provider.url] as const,
    );
    for (const one of seen) expect(one).not.toMatch(/^(basic|cors)/);
    const form = `<form method=post enctype=text/plain action="${server.url}/v1/session"></form>`;
    await page.setContent(form);
    await page.evaluate("document.forms[0].submit()");
    await page.waitForURL(/session/);
    await page.goto(server.url);
    await page.locator(".signed-in", { hasText: "ann@example.org" }).waitFor();
    expect(await sessionOf(victim)).toBe(session);
  });

  test("cannot sign the victim in as somebody else with an answer of its own (login CSRF)", async () => {
    const attacker = await newBrowser();
    const own = await attacker.newPage();
    // The attacker keeps the code, and does not use it.
    await own.route(/\/v1\/sign-in\/finish/, (route) => route.abort());
    const returned = own.waitForRequest(/\/sign-in\/callback\?/);
    await own.goto(server.url);
    await own.getByRole("button", { name: button }).click();
    await signInAtProvider(own, "bob");
    const callback = (await returned).url();
    expect(callback).toContain("code=");
    // What the attacker has in the storage of his own tab goes with it, as a cookie at most.
    await using hostile = await sibling((_, response) => {
      response.setHeader("set-cookie", "berth.sign-in=anything; Path=/");
      response.end(`<meta http-equiv="refresh" content="0;url=${callback}">`);
    });
    await page.goto(hostile.url);
    await page.getByRole("alert").getByText("this server did not begin it").waitFor();
    expect(await sessionOf(victim)).toBeUndefined();
    // In the middle of the victim's own sign-in.
    await page.getByRole("button", { name: button }).click();
    await page.locator('input[name="login"]').waitFor();
    await page.goto(callback);
    await page.getByRole("alert").getByText("the answer belongs to another sign-in").waitFor();
    expect(await sessionOf(victim)).toBeUndefined();
    await attacker.close();
  });

  test("cannot give the victim its own session by a cookie", async () => {
    const attacker = await newBrowser();
    await signIn(await attacker.newPage(), "bob");
    const stolen = await sessionOf(attacker);
    await attacker.close();
    let path = "/";
    await using hostile = await sibling((_, response) => {
      response.setHeader("set-cookie", `berth_session=${stolen}; Path=${path}`);
      response.end("<title>hostile</title>");
    });
    await page.goto(hostile.url);
    await page.goto(server.url);
    await page
      .getByText("Another page of this host had signed this browser in as bob@example.org")
      .waitFor();
    expect(await sessionOf(victim)).toBeUndefined();
    await signIn(page, "ann");
    // A second cookie, which the browser sends before the first.
    path = "/v1";
    await page.goto(hostile.url);
    await page.goto(`${server.url}/queue`);
    await page.getByRole("button", { name: button }).waitFor();
    const refused = await page.evaluate(async () => (await fetch("/v1/whoami")).json());
    expect(refused).toMatchObject({ name: null, refusal: expect.stringContaining("two sessions") });
    await page.getByText("Delete the cookies of this host").waitFor();
  });

  test("cannot show the sign-in in a frame, or send the browser elsewhere after it", async () => {
    await using hostile = await sibling((_, response) => {
      response.end(
        `<iframe src="${server.url}/"></iframe><iframe src="${server.url}/sign-in/callback"></iframe>`,
      );
    });
    await page.goto(hostile.url);
    for (const frame of page.frames().slice(1)) {
      expect(await frame.locator("body").textContent()).not.toContain("Sign in");
    }
    await page.goto(server.url);
    for (const returnTo of [
      "//evil.example/x",
      "https://evil.example/",
      "/\\evil.example",
      "x:y",
    ]) {
      const begun = JSON.stringify({ transaction: "x", returnTo });
      await page.evaluate((text) => sessionStorage.setItem("berth.sign-in", text), begun);
      await page.goto(`${server.url}/sign-in/callback?code=x&state=y&return=${returnTo}`);
      await page.getByRole("alert").getByText("this server did not begin it").waitFor();
      expect(new URL(page.url()).origin, returnTo).toBe(server.url);
    }
  });

  test.each([
    "",
    "?code",
    "?state=",
    "?error=%00%0a&error_description=<script>alert(1)</script>&state=a&state=b",
    `?code=${"x".repeat(6_000)}`,
    "?%ff=%fe",
  ])("learns nothing from nonsense to the callback: %.40s", async (query) => {
    const complaints: string[] = [];
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(`${server.url}/sign-in/callback${query}`);
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: button }).waitFor();
    expect(complaints).toEqual([]);
    expect(await sessionOf(victim)).toBeUndefined();
  });
});
