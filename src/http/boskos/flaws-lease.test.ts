/** What went wrong with leases where Boskos was used, and does not here. The calls are the same. */

import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import { isHeld } from "../../core/model/state.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { type TestSite, testSite } from "../test-site.suite.ts";
import { type BoskosAnswer, BoskosSite } from "./boskos-site.suite.ts";

const acquire = "POST /acquire?type=t&state=free&dest=busy&owner=o";
const nameIn = ({ status, text }: Pick<BoskosAnswer, "status" | "text">) =>
  status === 200 ? (JSON.parse(text) as { name: string }).name : status;

describe("a reply that was lost", () => {
  const seed = ["a:t/free/", "b:t/free/", "c:t/free/"];
  const again = `${acquire}&request_id=7`;

  test.each([false, true])("is given once more, restarted: %s", async (restarted) => {
    await using site = await BoskosSite.start({ seed });
    const first = await site.call(again);
    if (restarted) await site.restart();
    const second = await site.call(again);
    expect([first, second].map(nameIn)).toEqual(["a", "a"]);
    expect(second.headers["berth-lease"]).toBe(first.headers["berth-lease"]);
    await site.clock.advance(59_000);
    expect(nameIn(await site.call(again))).toBe("a");
    expect(await site.stored()).toEqual(["a:t/busy/o", "b:t/free/", "c:t/free/"]);
  });

  test("is given for as long as its client keeps on asking", async () => {
    await using site = await BoskosSite.start({ seed });
    for (let turn = 0; turn < 5; turn++) {
      expect(nameIn(await site.call(again))).toBe("a");
      await site.clock.advance(40_000);
    }
  });

  test("is not given to one that has shown since that it has the resource", async () => {
    await using site = await BoskosSite.start({ seed });
    expect(nameIn(await site.call(again))).toBe("a");
    await site.call("POST /update?name=a&owner=o&state=busy");
    expect(nameIn(await site.call(again))).toBe("b");
    await site.call("POST /release?name=b&owner=o&dest=dirty");
    expect(nameIn(await site.call(again))).toBe("c");
    expect(await site.stored()).toEqual(["a:t/busy/o", "b:t/dirty/", "c:t/busy/o"]);
  });

  test("is not given to one that uses its id for another, later", async () => {
    await using site = await BoskosSite.start({ seed });
    expect(nameIn(await site.call(again))).toBe("a");
    await site.clock.advance(60_000);
    expect(nameIn(await site.call(again))).toBe("b");
  });

  test.each(["type=t&state=free&dest=busy&owner=p", "type=t&state=free&dest=used&owner=o"])(
    "is not given to one with the same id that asks for %s",
    async (query) => {
      await using site = await BoskosSite.start({ seed });
      expect(nameIn(await site.call(again))).toBe("a");
      expect(nameIn(await site.call(`POST /acquire?${query}&request_id=7`))).toBe("b");
    },
  );
});

interface Listening extends AsyncDisposable {
  readonly site: TestSite;
  /** Calls, and hangs up while the journal still writes. */
  hangUpBeforeTheReply(line: string): Promise<void>;
  call(line: string): Promise<{ status: number; text: string }>;
  open(line: string): ClientRequest;
}

async function listening(size: number): Promise<Listening> {
  const site = await testSite([pool("t", size)]);
  const url = await site.listen();
  const open = (line: string): ClientRequest => {
    const [method = "", path = ""] = line.split(" ");
    const call = request(`${url}${path}`, { method, agent: false });
    call.on("error", () => {}).end();
    return call;
  };
  return {
    site,
    open,
    async call(line) {
      const [method = "", path = ""] = line.split(" ");
      const answer = await fetch(`${url}${path}`, { method });
      return { status: answer.status, text: await answer.text() };
    },
    async hangUpBeforeTheReply(line) {
      const connected = once(site.app.server, "connection") as Promise<[Socket]>;
      site.journal.shut();
      const call = open(line);
      const [socket] = await connected;
      await site.journal.arrived;
      call.destroy();
      if (!socket.destroyed) await once(socket, "close");
      site.journal.open();
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("a socket that is closed before the reply", () => {
  const seats = ({ broker }: TestSite) =>
    broker.read(({ resources }) => [...resources.values()].map(isHeld));
  const told = ({ journal }: TestSite, wanted: string) =>
    journal.appends.flat().filter(({ type }) => type === wanted);

  test.each([acquire, "POST /acquirebystate?state=free&dest=busy&owner=o&names=t-1,t-2"])(
    "leaves nothing lent to %s",
    async (line) => {
      await using server = await listening(2);
      const { site } = server;
      await server.hangUpBeforeTheReply(line);
      await until(() => told(site, "lease-ended").length === (line.includes("names") ? 2 : 1));
      for (const event of told(site, "lease-ended"))
        expect(event).toMatchObject({ why: "uncollected" });
      expect(await seats(site)).toEqual([false, false]);
      expect((await server.call(acquire)).status).toBe(200);
    },
  );

  test("keeps what was lent for one with an id, so long as it may call again", async () => {
    await using server = await listening(1);
    const line = `${acquire}&request_id=7`;
    await server.hangUpBeforeTheReply(line);
    await until(() => told(server.site, "lease-delivered").length === 1);
    expect(nameIn(await server.call(acquire.replace("owner=o", "owner=p")))).toBe(404);
    expect(nameIn(await server.call(line))).toBe("t-1");
    await server.site.clock.advance(3_600_000);
    expect(await seats(server.site)).toEqual([true]);
  });

  test("means nothing when its client was told on another one meanwhile", async () => {
    await using server = await listening(1);
    const { site, call } = server;
    const line = `${acquire}&request_id=7`;
    const connected = once(site.app.server, "connection") as Promise<[Socket]>;
    const slow = server.open(line);
    const [socket] = await connected;
    // Its reply is written and does not leave: the client reads nothing.
    socket.cork();
    expect(nameIn(await call(line))).toBe("t-1");
    socket.destroy();
    slow.destroy();
    expect(nameIn(await call(line))).toBe("t-1");
    await site.clock.advance(3_600_000);
    expect(await seats(site)).toEqual([true]);
  });

  test("gives what was lent to the next one when nobody calls again", async () => {
    await using server = await listening(1);
    await server.hangUpBeforeTheReply(`${acquire}&request_id=7`);
    await until(() => told(server.site, "lease-delivered").length === 1);
    await server.site.clock.advance(30_000);
    expect(nameIn(await server.call(acquire.replace("owner=o", "owner=p")))).toBe("t-1");
  });

  test("is no sign that its client knows, if it is closed just when there is a grant", async () => {
    await using server = await listening(2);
    const { site, call } = server;
    const line = `${acquire}&request_id=7`;
    await call(acquire);
    await call(acquire);
    const waiting = server.open(line);
    await until(() => site.broker.openWaits === 1);
    site.journal.shut();
    const released = call("POST /release?name=t-1&owner=o&dest=free");
    await site.journal.arrived;
    waiting.destroy();
    await until(() => site.broker.openWaits === 0);
    site.journal.open();
    await released;
    expect(nameIn(await call(line))).toBe("t-1");
    // That reply was lost as well, and it calls a third time: still the same one.
    await call("POST /release?name=t-2&owner=o&dest=free");
    expect(nameIn(await call(line))).toBe("t-1");
  });
});

test("several are taken by name whole or not at all", async () => {
  const seed = ["a:t/s/", "b:u/s/x", "c:t/s/"];
  await using site = await BoskosSite.start({ seed });
  for (const names of ["a,b,c", "a,c,nobody"]) {
    const answer = await site.call(`POST /acquirebystate?state=s&dest=d&owner=o&names=${names}`);
    expect(answer.status).toBe(404);
    expect(await site.stored()).toEqual(seed);
  }
});

test("64 that ask at once for what 10 can have: 10 have it, and each another", async () => {
  const seed = Array.from({ length: 10 }, (_, index) => `r${index}:t/free/`);
  await using site = await BoskosSite.start({ seed });
  const asked = Array.from({ length: 64 }, (_, index) =>
    site.call(`${acquire}-${index}${index % 2 === 0 ? "" : `&request_id=${index}`}`),
  );
  const answers = await Promise.all(asked);
  const names = answers.filter(({ status }) => status === 200).map(nameIn);
  expect(new Set(names).size).toBe(10);
  expect(names).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(54);
});

describe("a lease that is named", () => {
  const release = "POST /release?name=a&owner=o&dest=free";
  const beat = "POST /update?name=a&owner=o&state=busy";

  test("is not mistaken for that of a namesake", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
    const old = (await site.call(acquire)).headers["berth-lease"];
    await site.call("POST /reset?type=t&state=busy&expire=0&dest=free");
    const fresh = (await site.call(acquire)).headers["berth-lease"];
    expect(fresh).not.toBe(old);
    expect((await site.call(`${beat}&lease=${old}`)).status).toBe(401);
    expect((await site.call(`${release}&lease=${old}`)).status).toBe(401);
    expect(await site.stored()).toEqual(["a:t/busy/o"]);
    expect((await site.call(`${beat}&lease=${fresh}`)).status).toBe(200);
    expect((await site.call(`${release}&lease=${fresh}`)).status).toBe(200);
  });

  test("is told of each that was taken by name, in their order", async () => {
    await using site = await BoskosSite.start({ seed: ["b:t/s/", "a:t/s/"] });
    const taken = await site.call("POST /acquirebystate?state=s&dest=d&owner=o&names=a,b");
    const [first, second] = String(taken.headers["berth-lease"]).split(", ");
    const beatOf = (name: string, lease = "") =>
      site.call(`POST /update?name=${name}&owner=o&state=d&lease=${lease}`);
    expect((await beatOf("a", first)).status).toBe(401);
    expect((await beatOf("b", first)).status).toBe(200);
    expect((await beatOf("a", second)).status).toBe(200);
  });
});

describe("what the holder of a lease is told", () => {
  const release = "POST /release?name=a&owner=o&dest=dirty";
  const mismatch = "owner mismatch request by o, currently owned by";

  test.each([false, true])(
    "is 200 for the same release again, restarted: %s",
    async (restarted) => {
      await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
      await site.call(acquire);
      expect((await site.call(release)).status).toBe(200);
      if (restarted) await site.restart();
      expect(await site.call(release)).toMatchObject({ status: 200, text: "" });
      // Also when another has it by now: it stays with that one.
      await site.call("POST /acquire?type=t&state=dirty&dest=cleaning&owner=j");
      expect(await site.call(release)).toMatchObject({ status: 200, text: "" });
      expect(await site.stored()).toEqual(["a:t/cleaning/j"]);
      expect(await site.call(release.replace("dirty", "free"))).toMatchObject({
        status: 401,
        text: expect.stringMatching(
          new RegExp(`^Done failed: a - free \\(from o\\): ${mismatch} j `),
        ),
      });
    },
  );

  test("is 200 for the same release again, after one that was lent it never came", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/"] });
    await site.call(acquire);
    await site.call(`${acquire}2&request_id=1`.replace("free", "dirty"));
    await site.call(release);
    await site.clock.advance(31_000);
    expect(await site.stored()).toEqual(["a:t/dirty/"]);
    expect(await site.call(release)).toMatchObject({ status: 200 });
  });

  test("is how it was lost, after the words that are always the same", async () => {
    const policies = { t: { silence: { busy: { afterMs: 60_000, to: "dirty" } } } };
    await using site = await BoskosSite.start({ seed: ["a:t/free/"], policies });
    await site.call(acquire);
    await site.clock.advance(61_000);
    const beat = await site.call("POST /update?name=a&owner=o&state=busy");
    expect(beat).toMatchObject({
      status: 401,
      text: `Update failed: a - busy (o): ${mismatch}  (your lease was expired at 2023-11-14T22:14:20.000Z)\n`,
    });
  });
});

describe("a lease whose holder is silent", () => {
  const policies = {
    t: {
      silence: {
        busy: { afterMs: 1_800_000, to: "dirty" },
        cleaning: { afterMs: 60_000, to: "dirty" },
      },
    },
  };

  test("ends after the time for its state, and in the state that is set for it", async () => {
    const seed = ["a:t/busy/o", "b:t/cleaning/j", "c:t/leased/o", "d:u/busy/o"];
    await using site = await BoskosSite.start({ seed, policies });
    await site.clock.advance(59_999);
    expect(await site.stored()).toEqual(seed);
    await site.clock.advance(1);
    expect(await site.stored()).toEqual(["a:t/busy/o", "b:t/dirty/", ...seed.slice(2)]);
    await site.clock.advance(1_740_000);
    expect(await site.stored()).toEqual(["a:t/dirty/", "b:t/dirty/", ...seed.slice(2)]);
  });

  test("goes on for as long as it is heard of, and has the full time after a restart", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/o"], policies });
    await site.clock.advance(1_700_000);
    await site.call("POST /update?name=a&owner=o&state=busy");
    await site.clock.advance(1_700_000);
    await site.restart();
    await site.clock.advance(1_799_999);
    expect(await site.stored()).toEqual(["a:t/busy/o"]);
    await site.clock.advance(1);
    expect(await site.stored()).toEqual(["a:t/dirty/"]);
  });
});

describe("user data", () => {
  const secret = "hunter2-s3cret";
  const beat = "POST /update?name=a&owner=o&state=busy";

  test("is in no log, no feed, no listing, no metric, and in nobody else's errors", async () => {
    await using site = await BoskosSite.start({
      seed: ["a:t/free/", "b:t/free/"],
      userData: { a: { key: secret } },
    });
    expect((await site.call(acquire)).text).toContain(secret);
    await site.call(beat, { body: `{"more":"${secret}"}` });
    const told: BoskosAnswer[] = [];
    for (const body of [`{"x":["${secret}"]}`, `{"x":"${secret}`, `${secret}`, `{"x":${secret}}`]) {
      told.push(await site.call(beat, { body }));
    }
    told.push(await site.call(beat.replace("=o", "=p"), { body: `{"x":"${secret}"}` }));
    for (const path of ["leases", "resources", "resources/a", "pools", "requests"]) {
      told.push(await site.call(`GET /v1/${path}`));
    }
    for (const path of ["metrics", "metric?type=t"]) told.push(await site.call(`GET /${path}`));
    told.push(await site.call("POST /reset?type=t&state=busy&expire=0&dest=free"));
    const feed = await firstEvents(site, "resource-changed", 3);
    for (const text of [...told.map((answer) => answer.text), feed])
      expect(text).not.toContain(secret);
    expect(told.slice(0, 5).map(({ status }) => status)).toEqual([400, 400, 400, 400, 401]);
    expect(site.log).not.toContain(secret);
  });

  test.each([
    ["as it is", async () => {}],
    ["after a crash", (site: BoskosSite) => site.restart()],
    ["after a stop, from a snapshot", (site: BoskosSite) => site.stopAndStart()],
  ])("that is sent back with every heartbeat undoes nothing: %s", async (_, between) => {
    await using site = await BoskosSite.start({
      seed: ["a:t/free/"],
      userData: { a: { key: "old", other: "1" } },
    });
    await site.call(acquire);
    await site.call(beat, { body: '{"key":"new"}' });
    await between(site);
    expect((await site.call(beat, { body: '{"other":"1","key":"old"}' })).status).toBe(200);
    expect(await site.userData("a")).toEqual({ key: "new", other: "1" });
    await site.call(beat, { body: '{"key":"old"}' });
    expect(await site.userData("a")).toEqual({ key: "old", other: "1" });
  });

  test("has a limit, of which its sender is told", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/busy/o"] });
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, "v"]));
    expect(await site.call(beat, { body: JSON.stringify(many) })).toMatchObject({
      status: 400,
      text: "Update failed: a - busy (o): it would have more than 64 keys of user data\n",
    });
    expect(await site.userData("a")).toEqual({});
    const large = await site.call(beat, { body: `{"k":"${"x".repeat(1024 * 1024)}"}` });
    expect(large).toMatchObject({ status: 413, text: expect.stringContaining("failed") });
    const tooLong = await site.call(beat, { body: `{"k":"${"x".repeat(16 * 1024 + 1)}"}` });
    expect(tooLong).toMatchObject({ status: 400, text: expect.stringContaining("failed") });
    const fits = await site.call(beat, { body: `{"k":"${"x".repeat(16 * 1024)}"}` });
    expect(fits.status).toBe(200);
  });
});

/** The feed from its beginning, until it has told so many of a kind. */
async function firstEvents(site: BoskosSite, type: string, count: number): Promise<string> {
  const stop = new AbortController();
  const headers = { "last-event-id": "0" };
  const url = `http://127.0.0.1:${site.port}/v1/events`;
  const feed = await fetch(url, { headers, signal: stop.signal });
  let text = "";
  for await (const chunk of feed.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.split(type).length > count) break;
  }
  stop.abort();
  return text;
}

test("a journal that cannot be written is no empty pool", async () => {
  await using site = await testSite([pool("t", 1)]);
  site.journal.appendFails = new JournalUnavailable("Cannot append: the disk is full");
  for (const line of [acquire, "POST /acquirebystate?state=free&dest=d&owner=o&names=t-1"]) {
    const { status, text } = await site.call(line);
    expect(status).toBe(503);
    expect(text).toMatch(/^failed: .*\n$/);
  }
});

test("a request that does not arrive is not waited for", async () => {
  await using site = await BoskosSite.start();
  const { headersTimeout, requestTimeout } = site.app.server;
  for (const timeoutMs of [headersTimeout, requestTimeout]) {
    expect(timeoutMs).toBeGreaterThan(0);
    expect(timeoutMs).toBeLessThanOrEqual(60_000);
  }
});
