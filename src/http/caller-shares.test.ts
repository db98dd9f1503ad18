import { expect, test } from "vitest";
import { limits } from "../api/limits.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { asProblem, testSite } from "./test-site.suite.ts";

const { holder, operator } = testTokens;
const questions = [
  "/v1/history",
  "/v1/stats",
  "/v1/stats/pools",
  "/v1/costs",
  "/v1/events/past?text=aws",
] as const;
const { questionsPerCallerMax, feedsPerCallerMax } = limits;

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
