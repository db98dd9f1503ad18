import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { brokerOf, type TestBroker } from "../../broker/test-broker.suite.ts";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import type { ResourceName } from "../../core/model/ids.ts";
import type { Origin } from "../../core/model/origin.ts";
import { Audit, type AuditOptions, AuditUnavailable } from "./audit.ts";
import { auditPath, readAuditFile } from "./audit-file.ts";
import { bodyOf, entryOfLine, hashOf, lineOf, noHash } from "./chain.ts";
import type { AuditEntry } from "./entry.ts";
import { AuditReader, allEntries } from "./reader.ts";
import { AuditStore } from "./store.ts";
import { ChainCheck, type VerifyOptions } from "./verify.ts";
import { verifyFolder } from "./verify-source.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const pools = [pool("aws", 2), pool("gcp", 1)];
const from: Origin = { way: "cli", by: "ci", space: "team" };
const byToken: Origin = { way: "http", asHolder: true };

const open = () => AuditStore.open(auditPath(folder));
const start = ({ journal, broker }: TestBroker, options: AuditOptions = {}) =>
  new Audit(open, journal, broker, { journalId: "one", ...options });

/** Three jobs on two resources, and an operator. */
async function live({ broker }: TestBroker, name = "a"): Promise<void> {
  for (const job of [1, 2, 3]) await broker.submit(acquire(`${name}${job}`, "aws"), from);
  await broker.submit(release(`${name}1`), byToken);
  await broker.submit(
    {
      type: "change-resource",
      resource: "gcp-1" as ResourceName,
      change: { drained: true, userData: { password: "hunter2" } },
      reason: { by: "ops", as: "ada", why: "maintenance" },
    },
    { way: "page", by: "ops", space: "admins" },
  );
}

function entries(): AuditEntry[] {
  using database = readAuditFile(auditPath(folder));
  return [...allEntries(database)].map(({ body }) => JSON.parse(body));
}

function verify(options: VerifyOptions = {}) {
  using database = readAuditFile(auditPath(folder));
  const check = new ChainCheck(options);
  for (const entry of allEntries(database)) check.add(entry);
  return check.finish();
}

/** As an intruder with sqlite3 does. */
function tamper(sql: string): void {
  using database = new DatabaseSync(auditPath(folder));
  database.exec(sql);
}

async function recorded(): Promise<void> {
  const site = await brokerOf(pools);
  const audit = start(site);
  await live(site);
  await audit.caughtUp();
  await audit.close();
}

describe("Audit", () => {
  test("records who did what, which way, and why", async () => {
    await recorded();
    const found = entries().filter(({ action }) => !/^(pool-def|resource-add)/.test(action));
    expect(found.map(({ number: _n, at: _a, event: _e, ...rest }) => rest)).toMatchObject([
      { action: "audit-started" },
      { action: "lease-granted", way: "cli", by: "ci", lease: "a1", resources: ["aws-1"] },
      { action: "lease-granted", lease: "a2", holder: "job-a2", pools: ["aws"] },
      { action: "request-queued", way: "cli", by: "ci", lease: "a3", pools: ["aws"] },
      { action: "lease-ended", way: "http", by: "ci", lease: "a1", detail: { end: "released" } },
      // From the queue: what its asker wanted.
      { action: "lease-granted", way: "cli", by: "ci", lease: "a3", resources: ["aws-1"] },
      {
        ...{ action: "resource-changed", way: "page", by: "ops", as: "ada", space: "admins" },
        ...{ reason: "maintenance", pools: ["gcp"], resources: ["gcp-1"] },
        detail: { drained: true, userDataKeys: ["password"] },
      },
    ]);
    expect(JSON.stringify(entries())).not.toContain("hunter2");
    expect(entries().map(({ number }) => number)).toEqual(entries().map((_, index) => index + 1));
  });

  test("keeps the name that somebody gives where everybody has one name", async () => {
    const site = await brokerOf(pools);
    const audit = start(site);
    const reason = { by: "ada", why: "maintenance" };
    const drain = { type: "change-resource" as const, change: { drained: true }, reason };
    await site.broker.submit(
      { ...drain, resource: "gcp-1" as ResourceName },
      { way: "http", by: "anonymous", space: "ops" },
    );
    await audit.caughtUp();
    await audit.close();
    expect(entries().at(-1)).toMatchObject({ by: "anonymous", as: "ada", reason: "maintenance" });
  });

  test("continues after a crash without losing or repeating an entry", async () => {
    const site = await brokerOf(pools);
    const first = start(site, { sliceEvents: 3 });
    await live(site, "a");
    await first.caughtUp();
    // Killed: what was committed meanwhile is in the journal only.
    await first.close();
    await live(site, "b");
    const second = start(site);
    await second.caughtUp();
    await second.close();
    const events = entries().flatMap(({ event = [] }) => event);
    expect(new Set(events).size).toBe(events.length);
    expect(events.at(-1)).toBe(site.broker.head);
    // The asker of a lease from before the restart is still known.
    await site.broker.submit(release("a2"), byToken);
    const third = start(site);
    await third.caughtUp();
    await third.close();
    expect(entries().findLast(({ lease }) => lease === "a2")).toMatchObject({ by: "ci" });
    expect(verify().problems).toEqual([]);
  });

  test("starts a new chain from the journal if the file is lost", async () => {
    await recorded();
    const last = verify().last;
    rmSync(auditPath(folder));
    const site = await brokerOf(pools);
    await live(site, "z");
    const audit = start(site);
    await audit.caughtUp();
    await audit.close();
    expect(entries()[0]).toMatchObject({ number: 1, action: "audit-started" });
    expect(verify().problems).toEqual([]);
    expect(verify({ anchor: last ?? undefined }).problems).toHaveLength(1);
  });

  test("notes that the journal is an older copy of itself", async () => {
    const site = await brokerOf(pools);
    const audit = start(site);
    await live(site);
    await audit.caughtUp();
    await audit.close();
    const count = entries().length;
    const older = await brokerOf(pools);
    const again = start(older);
    await again.caughtUp();
    await older.broker.submit(acquire("c1", "aws"), from);
    await again.caughtUp();
    await again.close();
    expect(entries().slice(count)).toMatchObject([
      { action: "journal-replaced", detail: { from: older.broker.head } },
      { action: "lease-granted", lease: "c1", event: older.broker.head },
    ]);
    expect(verify().problems).toEqual([]);
  });

  test("cannot be read while its file is damaged, and keeps the events until it can", async () => {
    writeFileSync(auditPath(folder), "no database");
    const site = await brokerOf(pools);
    const failures: unknown[] = [];
    const audit = start(site, { retryMs: 10, failed: (cause) => failures.push(cause) });
    await live(site);
    expect(() => audit.head).toThrow(AuditUnavailable);
    expect(failures).toHaveLength(1);
    rmSync(auditPath(folder));
    await audit.caughtUp();
    expect(audit.head.number).toBeGreaterThan(5);
    await audit.close();
  });

  test("deletes old entries in whole days, and says so", async () => {
    const site = await brokerOf(pools);
    const day = 24 * 3_600_000;
    const audit = start(site, { retentionMs: 1, everyMs: 1 });
    await live(site);
    await audit.caughtUp();
    await site.clock.advance(day);
    await live(site, "b");
    await audit.caughtUp();
    await until(() => entries()[0]?.number !== 1);
    await audit.close();
    const deleted = entries().find(({ action }) => action === "entries-deleted");
    const number = Number(deleted?.detail?.["through"]);
    const hash = String(deleted?.detail?.["hash"]);
    expect(entries()[0]?.number).toBe(number + 1);
    expect(verify().problems).toEqual([]);
    expect(verify({ anchor: { number, hash } })).toMatchObject({ anchored: true, problems: [] });
    tamper(`DELETE FROM audit WHERE number = ${number + 1}`);
    expect(verify().problems).toHaveLength(1);
  });
});

describe("a new configuration", () => {
  const configured = async (size: number) => {
    const site = await brokerOf(pools);
    const audit = start(site);
    const configure = { type: "configure", pools: [pool("aws", size), pool("new", 1)] } as const;
    await site.broker.submit(configure, { way: "config" });
    await site.broker.submit(acquire("a1", "aws"), from);
    await audit.caughtUp();
    await audit.close();
    return { site, found: entries().filter(({ way }) => way === "config") };
  };

  test("is one entry, with counts and names", async () => {
    const { found, site } = await configured(4);
    expect(found).toEqual([
      {
        ...{ number: expect.any(Number), at: expect.any(String), event: expect.any(Number) },
        ...{ action: "configuration-changed", way: "config", pools: ["new", "gcp", "aws"] },
        resources: ["gcp-1", "aws-3", "aws-4", "new-1"],
        detail: {
          changes: {
            "pool-defined": 1,
            "pool-retired": 1,
            "resource-added": 3,
            "resource-removed": 1,
          },
          through: expect.any(Number),
        },
      },
    ]);
    expect(verify().problems).toEqual([]);
    // What follows from it, and what comes later, have their own entries.
    expect(entries().slice(-2)).toMatchObject([
      { action: "pool-removed", way: "clock", pools: ["gcp"] },
      { action: "lease-granted", lease: "a1", pools: ["aws"], event: site.broker.head },
    ]);
  });

  test("is an entry for each slice if it is large, and names a bounded number of resources", async () => {
    const { found } = await configured(502);
    expect(found.length).toBeLessThan(4);
    expect(found[0]?.resources).toHaveLength(50);
    const { unnamed, poolCount, resourceCount } = found[0]?.detail ?? {};
    expect(Number(unnamed)).toBeGreaterThan(100);
    // The names that are left out are counted.
    const named = Number(found[0]?.pools?.length) + Number(found[0]?.resources?.length);
    expect(Number(poolCount) + Number(resourceCount)).toBe(named + Number(unnamed));
    const added = found.map(({ detail }) => {
      const { "resource-added": count = 0 } = (detail?.["changes"] ?? {}) as Record<string, number>;
      return count;
    });
    expect(added.reduce((sum, count) => sum + count)).toBe(501);
    expect(verify().problems).toEqual([]);
  });
});

describe("attempts", () => {
  const attempt = (call: string) =>
    ({ action: "call-refused", way: "http", by: "eve", detail: { call } }) as const;

  test("are bounded, and the next one says how many were left out", async () => {
    const site = await brokerOf(pools);
    const audit = start(site, { attempts: { burst: 3, perMinute: 1 } });
    for (let count = 0; count < 50; count++) audit.attempted(attempt("same"));
    for (let count = 0; count < 50; count++) audit.attempted(attempt(`other ${count}`));
    await site.clock.advance(60_000);
    audit.attempted(attempt("later"));
    await audit.caughtUp();
    await audit.close();
    expect(entries()[0]).toMatchObject({ number: 1, action: "audit-started" });
    const found = entries().filter(({ action }) => action === "call-refused");
    expect(found.map(({ detail }) => detail)).toEqual([
      { call: "same" },
      { call: "other 0", omittedBefore: 49 },
      { call: "other 1" },
      { call: "later", omittedBefore: 48 },
    ]);
  });
});

describe("the times of the chain", () => {
  const facts = (by: string) => ({ action: "call-refused", way: "http", by }) as const;
  const nothing = { touched: new Set<string>(), members: new Map<string, null>() };

  test("never go back, although the clock does, also after a restart", () => {
    const [t0, earlier, later] = [1_700_000_000_000, 1_699_999_999_000, 1_700_000_000_500];
    const write = (...times: readonly number[]) => {
      const store = open();
      const found = times.map((at) => ({ at, facts: facts(String(at)) }));
      store.save(1, { ...nothing, entries: found }, new Map());
      store.close();
    };
    write(t0, earlier);
    write(earlier, later, t0);
    const times = entries().map(({ at }) => Date.parse(at));
    expect(times).toEqual([t0, t0, t0, later, later]);
    expect(entries().map(({ by }) => by)).toEqual([t0, earlier, earlier, later, t0].map(String));
    expect(verify().problems).toEqual([]);
  });
});

describe("ChainCheck", () => {
  test.each([
    [
      "a changed text",
      "UPDATE audit SET body = replace(body, 'ada', 'bob') WHERE body LIKE '%ada%'",
    ],
    ["a removed entry", "DELETE FROM audit WHERE number = 6"],
    ["a removed start", "DELETE FROM audit WHERE number < 4"],
    [
      "two entries that changed places",
      "UPDATE audit SET number = -6 WHERE number = 6; UPDATE audit SET number = 6 WHERE number = 7; UPDATE audit SET number = 7 WHERE number = -6",
    ],
    ["another time beside the text", "UPDATE audit SET at = at - 1 WHERE number = 5"],
    ["another hash", "UPDATE audit SET hash = replace(hash, 'a', 'b') WHERE number = 5"],
  ])("finds %s", async (_, sql) => {
    await recorded();
    expect(verify().problems).toEqual([]);
    tamper(sql);
    expect(verify().problems).not.toEqual([]);
  });

  test("finds that all entries are missing: the file says that it has recorded some", async () => {
    await recorded();
    tamper("DELETE FROM audit");
    const [problem, ...others] = verifyFolder(folder, {}).problems;
    expect(problem?.what).toMatch(/^it has recorded the journal up to event \d+, but has no/);
    expect(others).toEqual([]);
    tamper("UPDATE audit_place SET seq = 0, journal = ''");
    expect(verifyFolder(folder, {})).toMatchObject({
      ...{ entries: 0, problems: [], unproved: ["anything: there are no entries"] },
    });
  });

  test("says what it cannot prove: an end without an anchor, and what was before the start", async () => {
    await recorded();
    const { unproved, last } = verifyFolder(folder, {});
    expect(unproved).toEqual([expect.stringContaining("its end was not cut off")]);
    const later = verifyFolder(folder, { anchor: last ?? undefined });
    expect(later.unproved).toEqual([
      `that nothing was cut off after entry ${last?.number}, the anchor`,
    ]);
    const check = new ChainCheck();
    const detail = { after: 0, from: 91, writtenAt: "2026-01-01T00:00:00.000Z" };
    const at = detail.writtenAt;
    const body = bodyOf({ number: 1, at, action: "audit-started", way: "clock", detail });
    check.add({ number: 1, body, previous: noHash, hash: hashOf(noHash, body) });
    expect(check.finish()).toMatchObject({
      problems: [],
      unproved: ["what happened before event 91: it begins there", expect.any(String)],
    });
  });

  test("finds a cut end only with an anchor", async () => {
    await recorded();
    const anchor = verify().last ?? undefined;
    expect(verify({ anchor })).toMatchObject({ anchored: true, problems: [] });
    tamper("DELETE FROM audit WHERE number > 5");
    expect(verify().problems).toEqual([]);
    expect(verify({ anchor })).toMatchObject({ anchored: false, problems: [{}] });
  });

  test("accepts an exported line only as it was written", async () => {
    await recorded();
    using database = readAuditFile(auditPath(folder));
    const [stored] = allEntries(database);
    if (stored === undefined) throw new Error("there is no entry");
    const line = lineOf(stored);
    expect({ ...entryOfLine(line), atMs: stored.atMs }).toEqual(stored);
    expect(stored.previous).toBe(noHash);
    // A second key would show one value to people and another to the check.
    expect(entryOfLine(line.replace('"action"', '"action":"x","action"'))).toBeUndefined();
    expect(entryOfLine(line.slice(0, -1))).toBeUndefined();
    expect(entryOfLine("[]")).toBeUndefined();
    expect(entryOfLine("null")).toBeUndefined();
  });
});

test("AuditReader.page() filters, in both orders, page by page", async () => {
  await recorded();
  using database = readAuditFile(auditPath(folder));
  const reader = new AuditReader(database);
  const numbers = (filter: object, more: object = {}) =>
    reader
      .page({ filter, limit: 100, oldestFirst: true, ...more })
      .items.map(({ body }) => (JSON.parse(body) as AuditEntry).action);
  expect(numbers({ by: "ops" })).toEqual(["resource-changed"]);
  expect(numbers({ by: "ada" })).toEqual(["resource-changed"]);
  expect(numbers({ lease: "a3" })).toEqual(["request-queued", "lease-granted"]);
  expect(numbers({ pool: "gcp" }).at(-1)).toBe("resource-changed");
  expect(numbers({ resource: "aws-2", by: "ci" })).toEqual(["lease-granted"]);
  expect(numbers({ text: "MAINTEN" })).toEqual(["resource-changed"]);
  expect(numbers({ text: "drained" })).toEqual(["resource-changed"]);
  expect(numbers({ space: "nobody" })).toEqual([]);
  expect(numbers({ kind: "decisions" }).filter((action) => !/^pool-def/.test(action))).toEqual([
    "audit-started",
    "resource-changed",
  ]);
  expect(numbers({ until: 1 })).toEqual([]);
  const all = reader.page({ filter: {}, limit: 1_000, oldestFirst: false }).items;
  const paged = [];
  let after: number | undefined;
  do {
    const page = reader.page({ filter: {}, limit: 2, oldestFirst: false, after });
    paged.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined);
  expect(paged).toEqual(all);
});
