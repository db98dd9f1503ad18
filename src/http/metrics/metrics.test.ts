import { expect, test } from "vitest";
import { acquire, clean, pool, release } from "../../core/decide/lending.suite.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { askBody, asLease, testSite } from "../test-site.suite.ts";

/** The value of a line such as `berth_leases 1`. */
async function scrape(site: Awaited<ReturnType<typeof testSite>>) {
  const { text, headers } = await site.call("GET /metrics");
  expect(headers["content-type"]).toContain("text/plain");
  const values = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const space = line.lastIndexOf(" ");
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
  );
  return { text, value: (name: string) => values.get(name) };
}

test("/metrics tells what is lent, who waits and how it ended", async () => {
  await using site = await testSite([pool("aws", 2, { ttlMs: 60_000 })]);
  const first = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  await site.call("POST /v1/leases", { body: askBody("aws", { ttl: "1h" }) });
  await site.call("POST /v1/leases", { body: askBody("aws", { ttl: "1h" }) });
  await site.clock.advance(30_000);
  const before = await scrape(site);
  expect(before.value('berth_resources{pool="aws",state="busy"}')).toBe(2);
  expect(before.value('berth_waiters{pool="aws"}')).toBe(1);
  expect(before.value('berth_oldest_waiter_seconds{pool="aws"}')).toBe(30);
  expect(before.value("berth_leases")).toBe(2);
  await site.call(`DELETE /v1/leases/${first.id}`, { token: first.token });
  const after = await scrape(site);
  expect(after.value('berth_grants_total{pool="aws"}')).toBe(3);
  expect(after.value('berth_leases_ended_total{reason="released"}')).toBe(1);
  expect(after.value('berth_wait_seconds_sum{pool="aws"}')).toBe(30);
  expect(after.value('berth_hold_seconds_sum{pool="aws"}')).toBe(30);
  expect(after.value("berth_journal_head")).toBe(site.broker.head);
  expect(after.value("berth_clock_ahead_seconds")).toBe(0);
});

test("/metrics counts what was taken back from those who vanished", async () => {
  await using site = await testSite([pool("aws", 1, { ttlMs: 60_000 })]);
  await site.call("POST /v1/leases", { body: askBody("aws") });
  await site.call("POST /v1/leases", { body: askBody("aws", { ttl: "10s" }) });
  await site.clock.advance(60_000);
  const { value } = await scrape(site);
  expect(value('berth_expiries_total{pool="aws"}')).toBe(1);
  expect(value('berth_requests_left_total{reason="abandoned"}')).toBe(1);
});

test("/metrics counts cleaning apart from use", async () => {
  await using site = await testSite([pool("aws", 1, { onRelease: "dirty" })]);
  await site.broker.submit(acquire("job", "aws"));
  await site.clock.advance(30_000);
  await site.broker.submit(release("job"));
  for (const [id, failure] of [
    ["first", "exit 1"],
    ["second", undefined],
  ] as const) {
    await site.broker.submit(clean(id));
    await site.clock.advance(10_000);
    const end = failure === undefined ? undefined : { failure };
    await site.broker.submit({ type: "release", id: id as RequestId, ...end });
    await site.clock.advance(3_600_000); // Longer than the backoff after a failure.
  }
  const { value } = await scrape(site);
  expect(value('berth_grants_total{pool="aws"}')).toBe(1);
  expect(value('berth_leases_ended_total{reason="released"}')).toBe(1);
  expect(value('berth_hold_seconds_count{pool="aws"}')).toBe(1);
  expect(value('berth_wait_seconds_count{pool="aws"}')).toBe(1);
  expect(value('berth_cleaning_seconds_count{pool="aws"}')).toBe(1);
  expect(value('berth_cleaning_seconds_sum{pool="aws"}')).toBe(10);
  expect(value('berth_cleanings_failed_total{pool="aws"}')).toBe(1);
});

test("/metrics counts no cleaner that died as an expired job", async () => {
  await using site = await testSite([pool("aws", 1, { onRelease: "dirty" })]);
  await site.broker.submit(acquire("job", "aws"));
  await site.broker.submit(release("job"));
  await site.broker.submit(clean("cleaning"));
  await site.clock.advance(86_400_000);
  const { value } = await scrape(site);
  expect(value('berth_expiries_total{pool="aws"}')).toBe(0);
  expect(value('berth_cleanings_failed_total{pool="aws"}')).toBe(1);
});

test("/metrics names no holder", async () => {
  await using site = await testSite([pool("aws", 1)]);
  await site.call("POST /v1/leases", { body: askBody("aws", { holder: "somebody-special" }) });
  expect((await scrape(site)).text).not.toContain("somebody-special");
});
