/** Sign-in through a real OpenID provider, at servers whose clocks are minutes ahead or behind. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";
import { clientSecret, issuerFor, PeopleProvider } from "./people-provider.ts";
import { Person } from "./provider-person.ts";

let provider: PeopleProvider;
beforeAll(async () => {
  provider = await PeopleProvider.start();
  await watchFor(clientSecret);
});
afterAll(() => provider?.[Symbol.asyncDispose]());

/** What the server answers to the page at the end of a sign-in, and how long its cookie lasts. */
async function signInWhen(serverOffMinutes: number, idTokenSeconds = 600) {
  await using server = await TestServer.startIn(
    { NODE_OPTIONS: `--import=${shiftClock}`, TEST_CLOCK_OFF_HOURS: String(serverOffMinutes / 60) },
    { pools: { aws: { count: 1 } }, auth: { issuers: [issuerFor(provider)] } },
  );
  await writeFile(join(server.folder, "sign-in.secret"), clientSecret);
  provider.configure({ pageUrl: server.url, idTokenSeconds });
  const post = (path: string, body: object) =>
    fetch(server.url + path, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", origin: server.url },
        "sec-fetch-site": "same-origin",
      },
      body: JSON.stringify(body),
    });
  const started = await post("/v1/sign-in", { issuer: provider.url });
  const { location, transaction } = (await started.json()) as Record<string, string>;
  const callback = await new Person().signInTo(location ?? "", "ann", `${server.url}/sign-in/`);
  const { search } = new URL(callback);
  const answer = await post("/v1/sign-in/finish", { transaction, answer: search.slice(1) });
  const [, seconds] = /Max-Age=(\d+)/i.exec(answer.headers.get("set-cookie") ?? "") ?? [];
  const { name, code, detail } = (await answer.json()) as Record<string, string>;
  return { status: answer.status, name, code, detail, cookieSeconds: Number(seconds ?? 0) };
}

const shiftClock = fileURLToPath(new URL("shift-clock.ts", import.meta.url));

test("a server whose clock is minutes ahead accepts tokens that last longer, for the rest", async () => {
  const found = await signInWhen(5);
  expect(found).toMatchObject({ status: 200, name: "ann@example.org" });
  expect(found.cookieSeconds).toBeLessThanOrEqual(301);
  expect(found.cookieSeconds).toBeGreaterThan(200);
});

test("a server whose clock is minutes behind keeps the session no longer than the token lasts", async () => {
  const found = await signInWhen(-5);
  expect(found).toMatchObject({ status: 200, name: "ann@example.org" });
  expect(found.cookieSeconds).toBeLessThanOrEqual(601);
  expect(found.cookieSeconds).toBeGreaterThan(500);
});

test("a token that has expired by the clock of the server is refused with the difference", async () => {
  expect(await signInWhen(15)).toMatchObject({
    status: 502,
    code: "sign_in_failed",
    // With the seconds that pass until the server looks at its clock.
    detail: expect.stringMatching(
      /^Cannot sign in: the clock of Acme account is behind the clock of this server by 15m(\d+s)?$/,
    ),
  });
});
