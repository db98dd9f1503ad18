import { expect, test } from "vitest";
import { limits } from "../api/limits.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { RequestId, SpaceName } from "../core/model/ids.ts";
import { askBody, asLease, asProblem, asRequest, testSite } from "./test-site.suite.ts";

const { holder, operator } = testTokens;
const questions = [
  "/v1/history",
  "/v1/stats",
  "/v1/stats/pools",
  "/v1/costs",
  "/v1/events/past?text=aws",
] as const;
const { questionsPerCallerMax, feedsPerCallerMax, waitsPerSpaceMax } = limits;

test.each(questions)(
  "one caller has some questions at a time, others are answered: %s",
  async (path) => {
    await using here = await testSite([pool("aws", 1)], {}, undefined, testAuth);
    const ask = (token: string, url: string = path) => here.call(`GET ${url}`, { token });
    // One kind of question counts as the other.
    const mixed = questions.map((url) => ask(holder, url));
    const rest = questionsPerCallerMax - mixed.length;
    const first = [...mixed, ...Array.from({ length: rest }, () => ask(holder))];
    const [tooMany, others, audit] = await Promise.all([
      ask(holder),
      ask(otherToken),
      ask(operator, "/v1/audit"),
    ]);
    expect(tooMany).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(asProblem(tooMany)).toMatchObject({
      code: "history_busy",
      detail: "Cannot look into the past: 16 questions of yours are not answered yet",
    });
    expect([others.status, audit.status]).toEqual([200, 200]);
    for (const { status } of await Promise.all(first)) expect(status).toBe(200);
    expect((await ask(holder)).status).toBe(200);
  },
);

test("without authentication all share the whole", async () => {
  await using here = await testSite([pool("aws", 1)]);
  const ask = () => here.call("GET /v1/stats");
  const answers = await Promise.all(Array.from({ length: questionsPerCallerMax + 1 }, ask));
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

test("one caller has some of the feeds, and gets them back", async () => {
  await using here = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const url = await here.listen();
  const closing = new AbortController();
  const open = (token: string, { signal } = new AbortController()) =>
    fetch(`${url}/v1/events?digest=true`, {
      headers: { authorization: `Bearer ${token}` },
      signal,
    });
  const feeds = await Promise.all(
    Array.from({ length: feedsPerCallerMax - 1 }, () => open(holder)),
  );
  const last = await open(holder, closing);
  expect([...feeds, last].filter(({ status }) => status !== 200)).toEqual([]);
  const refused = await open(holder);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({
    code: "too_many_feeds",
    detail: "Cannot open another feed: 250 of yours are open",
  });
  expect((await open(operator)).status).toBe(200);
  closing.abort();
  await expect.poll(async () => (await open(holder)).status).toBe(200);
});

test("the waiting calls of one space leave room for those of others", async () => {
  await using here = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const ask = (token: string, wait = {}) =>
    here.call("POST /v1/leases", { token, body: { ...askBody("aws"), ...wait } });
  const lease = asLease(await ask(otherToken));
  const [ours, theirs] = [asRequest(await ask(holder)), asRequest(await ask(otherToken))];
  const ends = new AbortController();
  const space = "team" as SpaceName;
  const waits = Array.from({ length: waitsPerSpaceMax }, () =>
    here.broker.untilSettled(ours.id as RequestId, 60_000, {
      ...{ present: false, signal: ends.signal, space },
    }),
  );
  expect(here.broker.openWaitsOf(space)).toBe(waitsPerSpaceMax);
  const wait = { wait: "1s" };
  const poll = ({ id, token = "" }: typeof ours) =>
    here.call(`GET /v1/requests/${id}?wait=1s`, { token });
  for (const refused of [await ask(holder, wait), await poll(ours)]) {
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(asProblem(refused).code).toBe("too_many_waits");
  }
  const others = [
    ask(otherToken, wait),
    poll(theirs),
    here.call(`GET /v1/leases/${lease.id}?wait=1s`, { token: lease.token ?? "" }),
  ];
  await expect.poll(() => here.broker.openWaitsOf("other" as SpaceName)).toBe(3);
  await here.clock.advance(1_000);
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([202, 202, 200]);
  ends.abort();
  await Promise.all(waits);
  expect(here.broker.openWaitsOf(space)).toBe(0);
});
