/** Every way into the broker leaves its mark in the journal. */
import { expect, test } from "vitest";
import { testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { DurableEvent } from "../core/model/event.ts";
import type { Recorded } from "../journal/journal.ts";
import { type TestSite, testSite } from "./test-site.suite.ts";

function recordEvents(site: TestSite): DurableEvent[] {
  const events: DurableEvent[] = [];
  site.broker.listen({ committed: (recorded: Recorded) => events.push(...recorded.events) });
  return events;
}

const ask = { items: [{ pool: "aws" }], holder: "job" };
const cli = { "user-agent": "berth-cli" };
const page = { "sec-fetch-site": "same-origin" };
const boskos = "POST /acquire?type=aws&state=free&dest=busy&owner=me";

test("an event names the caller that has proved who it is, its space, and the way", async () => {
  await using site = await testSite([pool("aws", 9)], {}, undefined, testAuth);
  const events = recordEvents(site);
  const token = testTokens.holder;
  const asked = await site.call("POST /v1/leases", { body: ask, token });
  await site.call("POST /v1/leases", { body: ask, token, headers: cli });
  await site.call(boskos, { token });
  await site.call("POST /lease/acquire?type=aws", { token });
  const by = { by: "holder", space: "team" };
  const granted = events.filter(({ type }) => type === "lease-granted");
  expect(granted.map(({ from }) => from)).toEqual(
    ["http", "cli", "boskos", "lease-proxy"].map((way) => ({ way, ...by })),
  );
  const lease = asked.body as { id: string; token: string };
  await site.call(`DELETE /v1/leases/${lease.id}`, { token: lease.token });
  expect(events.at(-1)).toMatchObject({
    type: "lease-ended",
    from: { way: "http", asHolder: true },
  });
});

test("an operator may add a name to its own, but not replace it", async () => {
  await using site = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const events = recordEvents(site);
  const body = { drained: true, by: "mallory", reason: "maintenance" };
  await site.call("PATCH /v1/resources/aws-1", { body, token: testTokens.operator, headers: page });
  expect(events).toMatchObject([
    {
      type: "resource-changed",
      reason: { by: "operator", as: "mallory", why: "maintenance" },
      from: { way: "page", by: "operator" },
    },
  ]);
});

test("a grant from the queue is not the act of the caller who released", async () => {
  await using site = await testSite([pool("aws", 1)], {}, undefined, testAuth);
  const token = testTokens.holder;
  const first = (await site.call("POST /v1/leases", { body: ask, token })).body as {
    id: string;
    token: string;
  };
  await site.call("POST /v1/leases", { body: ask, token });
  const events = recordEvents(site);
  await site.call(`DELETE /v1/leases/${first.id}`, { token: first.token });
  expect(events.map(({ type, from }) => [type, from?.way])).toEqual([
    ["lease-ended", "http"],
    ["lease-granted", undefined],
  ]);
});

test("without authentication an event has only the way, and the feed never shows it", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const events = recordEvents(site);
  const { body } = await site.call("POST /v1/leases", { body: ask });
  expect(events[0]?.from).toEqual({ way: "http" });
  const { id } = body as { id: string };
  const past = await site.call(`GET /v1/events/past?id=${id}`);
  expect(past.text).toContain("lease-granted");
  expect(past.text).not.toContain('"from"');
});
