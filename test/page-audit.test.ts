/** The page Audit, in a real browser: what it lists, how it filters, and who may read it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { chromiumPath, launchChromium } from "./chromium.ts";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";

const [operator, holder] = ["operator-token-audit", "holder-token-audit"];
const auth = {
  tokens: [
    { name: "ann", sha256: tokenHash(operator), space: "ops", role: "operator" },
    { name: "ci", sha256: tokenHash(holder), space: "team", role: "holder" },
  ],
};

describe.skipIf(chromiumPath === undefined)("the page Audit", () => {
  let server: TestServer;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    server = await TestServer.startWith({ pools: { aws: { count: 3 } }, auth });
    for (const token of [operator, holder]) await watchFor(token);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const call = (method: string, path: string, token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${server.url}${path}`, { method, headers, ...sent });
  };

  async function open(token: string) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${server.url}/audit`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".signed-in").waitFor();
    return page;
  }

  test("lists who did what, and filters by name, caller and action", async () => {
    const asked = await call("POST", "/v1/leases", holder, {
      holder: "e2e/7",
      items: [{ pool: "aws" }],
    });
    expect(asked.status).toBe(201);
    const drain = { drained: true, reason: "disk is <b>broken</b>", by: "ada" };
    expect((await call("PATCH", "/v1/resources/aws-3", operator, drain)).status).toBe(200);
    expect((await call("PATCH", "/v1/resources/aws-3", holder, drain)).status).toBe(403);

    const page = await open(operator);
    const rows = page.locator("tr[data-row]");
    const drained = rows.filter({ hasText: "drained" });
    await drained.getByText("disk is <b>broken</b>").waitFor();
    expect(await drained.locator("th").textContent()).toBe("ann (ada) of space ops");
    expect(await drained.locator(".did").textContent()).toBe("drained aws-3");
    expect(await drained.locator(".through").textContent()).toBe("HTTP API");
    expect(await rows.filter({ hasText: "got aws-1" }).count()).toBe(0);
    const refused = rows.filter({ hasText: "was refused" });
    await refused.getByText("the role holder may not").waitFor();
    await refused.getByText("PATCH /v1/resources").waitFor();

    await page.getByLabel("Action").selectOption("Configuration");
    await rows.getByText("1 pool defined, 3 resources added").waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await rows.getByRole("link", { name: "aws", exact: true }).waitFor();
    await page.getByLabel("Action").selectOption("Everything");
    await rows.filter({ hasText: "got aws-1 for" }).getByRole("link", { name: "e2e/7" }).waitFor();
    const callers = page.locator(".filter", { has: page.getByLabel("Caller") }).locator("option");
    expect(await callers.evaluateAll((all) => all.map((one) => one.getAttribute("value")))).toEqual(
      [...["ada", "ann", "ci"]],
    );
    await page.getByLabel("Caller").fill("ci");
    await drained.waitFor({ state: "detached" });
    await expect.poll(() => refused.count()).toBe(1);
    // A part of what stands there is enough.
    await page.getByLabel("Caller").fill("NN (ada");
    await drained.waitFor();
    await expect.poll(() => refused.count()).toBe(0);
    await page.getByLabel("Caller").fill("");
    await page.getByLabel("Filter by verb, name or reason").fill("drained");
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByLabel("Filter by verb, name or reason").fill("broken");
    await drained.waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get("q")).toBe("broken");
    await page.getByLabel("Time").selectOption("last 15m");
    await expect.poll(() => new URL(page.url()).searchParams.get("since")).toBe("15m");
    await drained.waitFor();
    await page.reload();
    await drained.getByRole("link", { name: "aws-3" }).click();
    await page.getByRole("heading", { name: "aws-3" }).waitFor();
    await page.context().close();
  });

  test("loads older entries, and keeps them in place until somebody resumes", async () => {
    for (let turn = 0; turn < 60; turn++) {
      const change = { drained: turn % 2 === 0, reason: `turn ${turn}` };
      expect((await call("PATCH", "/v1/resources/aws-2", operator, change)).status).toBe(200);
    }
    const page = await open(operator);
    const rows = page.locator("tr[data-row]");
    await rows.getByText("turn 59").waitFor();
    expect(await rows.count()).toBe(50);
    await page.getByRole("button", { name: "Load older" }).click();
    await rows.getByText("turn 0", { exact: true }).waitFor();
    await page.getByText("These are all that are kept.").waitFor();
    const change = { drained: true, reason: "the newest" };
    expect((await call("PATCH", "/v1/resources/aws-2", operator, change)).status).toBe(200);
    await page.getByRole("button", { name: "Resume (1 new)" }).click();
    await rows.getByText("the newest").waitFor();
    expect(await rows.count()).toBe(50);
    // A filter finds entries that were never loaded.
    await page.getByLabel("Filter by verb, name or reason").fill("turn 3");
    await rows.getByText("turn 3", { exact: true }).waitFor();
    await expect.poll(() => rows.count()).toBe(11);
    await page.context().close();
  });

  test("says so when no entry matches, and is not for holders", async () => {
    const page = await open(operator);
    await page.getByLabel("Filter by verb, name or reason").fill("no such name");
    await page.getByText("No decision matches").waitFor();
    await page.context().close();
    const other = await open(holder);
    await other.getByText("Only operators can read who did what").waitFor();
    expect(await other.locator("tr[data-row]").count()).toBe(0);
    await other.context().close();
  });
});
