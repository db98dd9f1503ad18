import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PageOf } from "../api/schemas.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import type { FeedEvent } from "../client/event-feed.ts";
import { acquire, pool, release } from "../core/decide/lending.suite.ts";
import type { ResourceName } from "../core/model/ids.ts";
import { askBody, asLease, asProblem, type TestSite, testSite } from "./test-site.suite.ts";

let site: TestSite;

beforeEach(async () => {
  site = await testSite([pool("aws", 2), pool("gcp", 1)]);
});
afterEach(() => site[Symbol.asyncDispose]());

async function page(query: string): Promise<PageOf<FeedEvent>> {
  const answer = await site.call(`GET /v1/events/past?${query}`);
  expect(answer.status).toBe(200);
  return answer.body as PageOf<FeedEvent>;
}

const types = async (query: string) => (await page(query)).items.map(({ type }) => type);

describe("GET /v1/events/past", () => {
  test("lists the events of a request and its lease, the latest first", async () => {
    await site.broker.submit(acquire("a", "gcp"));
    await site.broker.submit(acquire("b", "gcp"));
    await site.broker.submit(release("a"));
    expect(await types("id=b")).toEqual(["lease-granted", "request-queued"]);
    await site.broker.submit(release("b"));
    await site.broker.submit(acquire("c", "gcp"));
    const { items } = await page("id=b");
    expect(items.map(({ holder }) => holder)).toEqual(["job-b", "job-b", "job-b"]);
    expect(await types("id=b")).toEqual(["lease-ended", "lease-granted", "request-queued"]);
    expect(await types("id=a")).toEqual(["lease-ended", "lease-granted"]);
    expect(await types("id=nobody")).toEqual([]);
  });

  test("lists the events of a resource, in the form of the feed", async () => {
    await site.broker.submit(acquire("a", "gcp"));
    const { items, next } = await page("resource=gcp-1");
    expect(next).toBeNull();
    expect(items).toMatchObject([
      { seq: 6, at: "2023-11-14T22:13:20.000Z", type: "lease-granted", id: "a", holder: "job-a" },
      { seq: 5, type: "resource-added", resource: "gcp-1" },
    ]);
    expect(await types("resource=gcp-1&id=a")).toEqual(["lease-granted"]);
    // A pool, and the beginning of another name.
    expect(await types("resource=gcp")).toEqual([]);
  });

  test("finds the events of a time", async () => {
    await site.broker.submit(acquire("a", "gcp"));
    const now = "2023-11-14T22:13:20.000Z";
    expect(await types(`id=a&since=${now}`)).toEqual(["lease-granted"]);
    expect(await types(`id=a&until=${now}`)).toEqual([]);
    expect(await types(`resource=gcp-1&since=1h`)).toEqual(["lease-granted", "resource-added"]);
    expect(await types("resource=gcp-1&until=1h")).toEqual([]);
    const wrong = await site.call("GET /v1/events/past?since=yesterday");
    expect(asProblem(wrong).detail).toContain('"yesterday" is not a time');
  });

  test("pages", async () => {
    for (const id of ["a", "b", "c"]) {
      await site.broker.submit(acquire(id, "gcp"));
      await site.broker.submit(release(id));
    }
    const seen: number[] = [];
    let next: string | null = "99";
    while (next !== null) {
      const found: PageOf<FeedEvent> = await page(`resource=gcp-1&limit=2&after=${next}`);
      expect(found.items.length).toBeLessThanOrEqual(2);
      seen.push(...found.items.map(({ seq }) => seq));
      next = found.next;
    }
    expect(seen).toEqual([11, 10, 9, 8, 7, 6, 5]);
    const first = await page("id=b&limit=1");
    expect(first.items).toMatchObject([{ type: "lease-ended" }]);
    expect(await types(`id=b&limit=1&after=${first.next}`)).toEqual(["lease-granted"]);
  });

  test("finds events by type, pool and text, also those that name only an id", async () => {
    await site.broker.submit(acquire("a", "gcp"));
    await site.broker.submit(acquire("b", "aws"));
    await site.broker.submit(release("a"));
    expect(await types("type=lease-")).toEqual(["lease-ended", "lease-granted", "lease-granted"]);
    expect(await types("type=lease-&pool=gcp")).toEqual(["lease-ended", "lease-granted"]);
    expect(await types("type=lease-&text=JOB-A")).toEqual(["lease-ended", "lease-granted"]);
    expect(await types("type=lease-&text=aws-1")).toEqual(["lease-granted"]);
    expect(await types("pool=gcp&text=added")).toEqual(["resource-added"]);
    expect(await types("trouble=true")).toEqual([]);
    expect(await types("text=no such")).toEqual([]);
  });

  test("never shows user data, and does not find it", async () => {
    await site.broker.submit({
      type: "change-resource",
      resource: "gcp-1" as ResourceName,
      change: { userData: { password: "hunter2" } },
      reason: { by: "", why: "" },
    });
    const answer = await site.call("GET /v1/events/past?resource=gcp-1&limit=1");
    expect(answer.text).toContain("password");
    expect(answer.text).not.toContain("hunter2");
    expect(await types("text=hunter2")).toEqual([]);
    expect(await types("text=password")).toEqual(["resource-changed"]);
  });

  test("refuses a type that does not exist, with the nearest", async () => {
    const problem = async (type: string) => {
      const answer = await site.call(`GET /v1/events/past?type=${type}`);
      const { code, detail, hint } = asProblem(answer);
      return [answer.status, code, detail, hint];
    };
    expect(await problem("lease-grantd")).toEqual([
      ...[400, "invalid_request"],
      'Cannot read query.type: there is no type "lease-grantd"',
      'Did you mean "lease-granted"?',
    ]);
    expect((await problem("nonsense"))[3]).toMatch(/^Use one of claim-ended, /);
    expect(await types("type=lease")).toEqual([]);
    expect(await types("type=")).not.toEqual([]);
  });

  test.each(["after=x", "limit=0", "trouble=yes", "colour=red"])("refuses ?%s", async (query) => {
    const answer = await site.call(`GET /v1/events/past?${query}`);
    expect(answer.status).toBe(400);
    expect(asProblem(answer).code).toBe("invalid_request");
  });
});

test("the cursor of a holder does not tell when another space held a resource", async () => {
  await using here = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  for (let count = 0; count < 8; count++) {
    const body = askBody("aws");
    const lease = asLease(await here.call("POST /v1/leases", { token: otherToken, body }));
    await here.call(`DELETE /v1/leases/${lease.id}`, { token: lease.token });
  }
  const search = async (query: string) => {
    const call = { token: testTokens.holder };
    return (await here.call(`GET /v1/events/past?limit=1&${query}`, call)).body;
  };
  const { items } = (
    await here.call("GET /v1/events/past?type=lease-", { token: testTokens.viewer })
  ).body as PageOf<FeedEvent & { id: string }>;
  expect(items).toHaveLength(16);
  for (const { id, seq } of items) {
    const nothing = { items: [], next: null };
    expect(await search(`resource=aws-1&type=lease-&after=${seq + 1}`)).toEqual(nothing);
    expect(await search(`type=lease-&after=${seq + 1}`)).toEqual(nothing);
    expect(await search(`id=${id}&after=${seq + 1}`)).toEqual(nothing);
    const shown = { items: [{ type: "resource-added" }] };
    expect(await search(`resource=aws-1&after=${seq + 1}`)).toMatchObject(shown);
  }
});
