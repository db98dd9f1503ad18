/** What went wrong with lines and pools where Boskos was used, and does not here. */
import { describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import type { DynamicPolicy } from "../../core/model/policy.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { askBody, testSite } from "../test-site.suite.ts";
import { BoskosSite } from "./boskos-site.suite.ts";

const acquire = "POST /acquire?type=t&state=free&dest=busy";
const noneOfT = "Acquire failed: no available resource t, try again later.\n";

function dynamic(wanted: Partial<DynamicPolicy>): {
  t: { dynamic: DynamicPolicy };
} {
  return { t: { dynamic: { min: 0, max: 3, state: "free", lifespanMs: null, ...wanted } } };
}

const take = (site: BoskosSite, owner: string, id = "") =>
  site.call(`${acquire}&owner=${owner}${id === "" ? "" : `&request_id=${id}`}`);
const give = (site: BoskosSite, name: string, owner: string, dest = "free") =>
  site.call(`POST /release?name=${name}&owner=${owner}&dest=${dest}`);

describe("a line", () => {
  test("serves whoever is there the moment that something comes free", async () => {
    await using site = await BoskosSite.start({
      seed: ["a:t/busy/x"],
      boskos: { waitMs: 2_000 },
    });
    const first = take(site, "p", "1");
    await until(() => site.broker.openWaits === 1);
    const second = take(site, "q", "2");
    await until(() => site.broker.openWaits === 2);
    await give(site, "a", "x");
    expect(JSON.parse((await first).text)).toMatchObject({ name: "a", owner: "p" });
    await give(site, "a", "p");
    expect(JSON.parse((await second).text)).toMatchObject({ name: "a", owner: "q" });
  });

  test("holds a call open for its time and no longer, and one without an id not at all", async () => {
    await using site = await BoskosSite.start({
      seed: ["a:t/busy/x"],
      boskos: { waitMs: 2_000 },
    });
    expect(await take(site, "q")).toMatchObject({ status: 404, text: noneOfT });
    const waiting = take(site, "p", "1");
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(2_000);
    expect(await waiting).toMatchObject({ status: 404, text: noneOfT });
  });

  test("goes on when one that was lent something does not come for it: it is as it was", async () => {
    await using site = await BoskosSite.start({
      seed: ["a:t/busy/x"],
      userData: { a: { key: "value" } },
      policies: { t: { onExpire: "dirty", lockDelayMs: 60_000 } },
    });
    await take(site, "dead", "1");
    await site.clock.advance(10_000);
    await take(site, "alive", "2");
    await give(site, "a", "x");
    expect(await site.stored()).toEqual(["a:t/busy/dead"]);
    await site.clock.advance(19_999);
    expect((await take(site, "alive", "2")).status).toBe(404);
    await site.clock.advance(1);
    const { status, text } = await take(site, "alive", "2");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ name: "a", userdata: { key: "value" } });
  });

  test("passes three clients that polled once and left, at the end of one request ttl", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/x"] });
    for (const id of ["1", "2", "3"]) await take(site, `dead-${id}`, id);
    await site.clock.advance(25_000);
    await take(site, "alive", "4");
    await give(site, "a", "x");
    await site.clock.advance(4_999);
    expect((await take(site, "alive", "4")).status).toBe(404);
    await site.clock.advance(1);
    expect((await take(site, "alive", "4")).status).toBe(200);
  });

  test("counts the request ttl from the end of a call that was kept open", async () => {
    await using site = await BoskosSite.start({
      seed: ["a:t/busy/x"],
      boskos: { waitMs: 2_000 },
    });
    const polled = take(site, "p", "1");
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(2_000);
    await polled;
    await site.clock.advance(20_000);
    await give(site, "a", "x");
    await site.clock.advance(9_999);
    expect(await site.stored()).toEqual(["a:t/busy/p"]);
    await site.clock.advance(1);
    expect(await site.stored()).toEqual(["a:t/free/"]);
  });

  test.each([
    ["in its query", "&wait=500ms", {}, 500],
    ["in a header", "", { prefer: "respond-async, wait=1" }, 1_000],
    ["longer than the server allows", "&wait=1h", {}, 2_000],
  ])("keeps a call open for as long as its client says: %s", async (_, query, headers, waitMs) => {
    await using site = await BoskosSite.start({
      seed: ["a:t/busy/x"],
      boskos: { waitMs: 2_000 },
    });
    const waiting = site.call(`${acquire}&owner=p&request_id=1${query}`, { headers });
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(waitMs - 1);
    expect(site.broker.openWaits).toBe(1);
    await site.clock.advance(1);
    expect(await waiting).toMatchObject({ status: 404, text: noneOfT });
  });

  test("is ordered by priority, if clients send one", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/x"] });
    await take(site, "early", "1");
    await site.call(`${acquire}&owner=urgent&request_id=2&priority=5`);
    await give(site, "a", "x");
    expect((await take(site, "early", "1")).status).toBe(404);
    expect((await take(site, "urgent", "2")).status).toBe(200);
  });

  test.each([
    ["selector=region%3Deu", "b"],
    ["selector=region=eu,tier=gold", "c"],
    ["resource=c", "c"],
    ["selector=region=us", "a"],
  ])("grants only resources that the client selects: %s", async (choice, name) => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/", "b:t/free/", "c:t/free/"] });
    const label = (resource: string, labels: Record<string, string>) =>
      site.call(`PATCH /v1/resources/${resource}`, {
        body: JSON.stringify({ labels }),
        headers: { "content-type": "application/json" },
      });
    await label("a", { region: "us" });
    await label("b", { region: "eu" });
    await label("c", { region: "eu", tier: "gold" });
    const asked = `${acquire}&owner=p&request_id=1&${choice}`;
    const granted = await site.call(asked);
    expect(JSON.parse(granted.text)).toMatchObject({ name, owner: "p" });
    // The same call gets the same resource; another choice with the same id is another request.
    expect((await site.call(asked)).headers["berth-lease"]).toBe(granted.headers["berth-lease"]);
    const other = await site.call(`${acquire}&owner=p&request_id=1`);
    expect(other.status).toBe(200);
    expect(JSON.parse(other.text).name).not.toBe(name);
  });

  test.each([
    ["selector=region", "selector: it must be KEY=VALUE pairs, separated by commas"],
    ["selector=a=b,", "selector: it must be KEY=VALUE pairs, separated by commas"],
    ["wait=soon", 'wait: time: invalid duration "soon"'],
    ["priority=high", 'priority: there is no priority "high"'],
    ["priority=1001", "priority: it must be a whole number from -1000 to 1000, or a name"],
  ])("refuses %s", async (option, why) => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
    const answer = await site.call(`${acquire}&owner=p&${option}`);
    expect(answer).toMatchObject({ status: 400, text: `Acquire failed: ${why}\n` });
  });

  test("marks an owner that was granted a resource and does not know it yet", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/x", "b:t/busy/y"] });
    await take(site, "p", "1");
    await give(site, "a", "x");
    const owners = async () => (await site.call("GET /metric?type=t")).text;
    const counts = '"type":"t","current":{"busy":2},"owner":{"p":1,"y":1}';
    expect(await owners()).toBe(`{${counts},"undelivered":{"p":1}}`);
    const { items } = JSON.parse((await site.call("GET /v1/leases?holder=p")).text);
    expect(items).toMatchObject([{ holder: "p", delivered: false }]);
    await take(site, "p", "1");
    expect(await owners()).toBe(`{${counts}}`);
    const later = await site.call("GET /v1/leases?holder=p");
    expect(later.text).not.toContain("delivered");
  });

  test("keeps its order and what was lent in it, whatever crashes", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/x"] });
    for (const id of ["1", "2", "3"]) await take(site, `o${id}`, id);
    await site.restart();
    await give(site, "a", "x");
    await site.restart();
    for (const id of ["3", "2"]) expect((await take(site, `o${id}`, id)).status).toBe(404);
    await site.restart();
    expect((await take(site, "o1", "1")).status).toBe(200);
    await site.restart();
    await give(site, "a", "o1");
    expect((await take(site, "o3", "3")).status).toBe(404);
    expect((await take(site, "o2", "2")).status).toBe(200);
  });

  test("is not lost while the journal cannot be written and turns everybody away", async () => {
    await using site = await testSite([pool("t", 1)]);
    await site.call("POST /v1/leases", { body: askBody("t", { ttl: "10h" }) });
    const poll = `${acquire}&owner=o&request_id=1`;
    const waiting = site.call(poll);
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(2_000);
    expect((await waiting).status).toBe(404);
    site.journal.appendFails = new JournalUnavailable("Cannot append: the disk is full");
    expect((await site.call(poll.replace("=1", "=2"))).status).toBe(503);
    await site.clock.advance(60_000);
    expect((await site.call(poll)).status).toBe(503);
    site.journal.appendFails = undefined;
    await site.clock.advance(2_000);
    expect(await site.broker.read(({ requests }) => requests.size)).toBe(1);
  });

  test("lets one without an id in when nobody else waits", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/", "b:t/free/"] });
    expect((await take(site, "p")).status).toBe(200);
    expect((await take(site, "q")).status).toBe(200);
    expect((await take(site, "r")).status).toBe(404);
  });
});

test("a name that is moved to another type while it is held goes there when it is free", async () => {
  await using site = await BoskosSite.start({ seed: ["a:t/busy/x", "b:t/free/"] });
  await site.configure({ seed: ["b:t/free/", "a:u/free/", "c:u/free/"] });
  expect(await site.stored()).toEqual(["a:t/busy/x", "b:t/free/", "c:u/free/"]);
  await site.restart();
  expect((await site.call("POST /update?name=a&owner=x&state=busy")).status).toBe(200);
  await give(site, "a", "x");
  expect(await site.stored()).toEqual(["a:u/free/", "b:t/free/", "c:u/free/"]);
});

test("a name that is removed while it is held is gone when it is given back", async () => {
  await using site = await BoskosSite.start({ seed: ["a:t/busy/x", "b:t/free/"] });
  await site.configure({ seed: ["b:t/free/"] });
  expect((await give(site, "a", "x")).status).toBe(200);
  expect(await site.stored()).toEqual(["b:t/free/"]);
});

describe("a type that comes and goes", () => {
  test("is known while it has nothing yet", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ max: 1 }) });
    expect(await take(site, "p")).toMatchObject({ status: 404, text: noneOfT });
    expect(await site.call("GET /metric?type=t")).toMatchObject({
      status: 200,
      text: '{"type":"t","current":{},"owner":{}}',
    });
  });

  test("makes one and lends it in the same breath", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ max: 2 }) });
    expect((await take(site, "p", "1")).status).toBe(200);
    expect((await take(site, "q", "2")).status).toBe(200);
    expect((await take(site, "r", "3")).status).toBe(404);
    expect(await site.stored()).toEqual(["t-1:t/busy/p", "t-2:t/busy/q"]);
  });

  test("makes another for one that has long been waiting, when one goes", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ max: 1 }) });
    await take(site, "p", "1");
    await take(site, "q", "2");
    await give(site, "t-1", "p", "tombstone");
    expect((await take(site, "q", "2")).status).toBe(200);
    expect(await site.stored()).toEqual(["t-2:t/busy/q"]);
  });

  test("makes another although some are put aside", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ max: 3 }) });
    await take(site, "p", "1");
    await give(site, "t-1", "p", "manual");
    expect((await take(site, "q", "2")).status).toBe(200);
    expect(await site.stored()).toEqual(["t-1:t/manual/", "t-2:t/busy/q"]);
  });

  test("makes none beside one that is being cleaned for who waits", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ max: 3 }) });
    await take(site, "p", "1");
    await give(site, "t-1", "p", "dirty");
    expect((await take(site, "q", "2")).status).toBe(404);
    await site.call("POST /acquire?type=t&state=dirty&dest=cleaning&owner=j");
    expect((await take(site, "q", "2")).status).toBe(404);
    await give(site, "t-1", "j");
    expect((await take(site, "q", "2")).status).toBe(200);
    expect(await site.stored()).toEqual(["t-1:t/busy/q"]);
  });

  test("shrinks by as many as are too many, whoever cleans them meanwhile", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ min: 3 }) });
    await site.configure({ policies: dynamic({ min: 0, max: 1 }) });
    const marked = ["t-1:t/free/", "t-2:t/toBeDeleted/", "t-3:t/toBeDeleted/"];
    expect(await site.stored()).toEqual(marked);
    await site.call("POST /acquire?type=t&state=toBeDeleted&dest=cleaning&owner=cleaner");
    await site.restart();
    await site.configure({ policies: dynamic({ min: 0, max: 1 }) });
    expect(await site.stored()).toContain("t-1:t/free/");
    await give(site, "t-3", "cleaner", "tombstone");
    await give(site, "t-2", "cleaner", "tombstone");
    expect((await take(site, "p")).status).toBe(200);
    // Nobody else cleans up here: after a while Berth does.
    await site.clock.advance(30_000);
    expect(await site.stored()).toEqual(["t-1:t/busy/p"]);
  });

  test("lends none that is to go, whatever its cleaner makes of it", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ min: 1, max: 1 }) });
    await site.configure({ policies: dynamic({ min: 0, max: 1, lifespanMs: 1_000 }) });
    await take(site, "p");
    await give(site, "t-1", "p");
    await site.clock.advance(1_000);
    expect(await site.stored()).toEqual(["t-1:t/toBeDeleted/"]);
    await site.call("POST /acquire?type=t&state=toBeDeleted&dest=cleaning&owner=cleaner");
    await give(site, "t-1", "cleaner", "free");
    expect(await site.stored()).toEqual(["t-1:t/toBeDeleted/"]);
    expect((await take(site, "p")).status).toBe(404);
  });

  test("keeps one that was to go and that an operator has set free", async () => {
    await using site = await BoskosSite.start({ policies: dynamic({ min: 2, max: 2 }) });
    await site.configure({ policies: dynamic({ min: 0, max: 1 }) });
    expect(await site.stored()).toEqual(["t-1:t/free/", "t-2:t/toBeDeleted/"]);
    await site.configure({ policies: dynamic({ min: 0, max: 2 }) });
    const body = JSON.stringify({ state: "free" });
    const headers = { "content-type": "application/json" };
    await site.call("PATCH /v1/resources/t-2", { body, headers });
    await site.clock.advance(60_000);
    expect(await site.stored()).toEqual(["t-1:t/free/", "t-2:t/free/"]);
    await site.configure({ policies: dynamic({ min: 0, max: 1 }) });
    expect(await site.stored()).toEqual(["t-1:t/free/", "t-2:t/toBeDeleted/"]);
  });

  test.each([
    ["given back", (site: BoskosSite) => give(site, "t-1", "p")],
    [
      "taken back by a reaper",
      (site: BoskosSite) => site.call("POST /reset?type=t&state=busy&expire=0&dest=free"),
    ],
  ])("deletes one that nobody wants for its lifespan after it was %s", async (_, back) => {
    await using site = await BoskosSite.start({ policies: dynamic({ lifespanMs: 60_000 }) });
    await take(site, "p", "1");
    await back(site);
    await site.clock.advance(59_999);
    expect(await site.stored()).toEqual(["t-1:t/free/"]);
    await site.restart();
    await site.clock.advance(1);
    expect(await site.stored()).toEqual(["t-1:t/toBeDeleted/"]);
    await site.clock.advance(30_000);
    expect(await site.stored()).toEqual([]);
  });

  test("sets free what belonged to one that is gone", async () => {
    await using site = await BoskosSite.start({
      seed: ["child:u/t-1/", "held:u/t-1/x", "other:u/t-2/"],
      policies: dynamic({ min: 1 }),
    });
    await take(site, "p");
    await give(site, "t-1", "p", "tombstone");
    expect(await site.stored()).toEqual([
      ...["child:u/dirty/", "held:u/t-1/x", "other:u/t-2/"],
      "t-2:t/free/",
    ]);
  });
});
