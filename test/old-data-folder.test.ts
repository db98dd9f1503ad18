/** Data folders of an older Berth: read to the same state, served, and gone on with. */
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkState } from "../sim/invariants.ts";
import { stateDifference } from "../sim/state-difference.ts";
import { Tokens } from "../src/broker/lease-identity.ts";
import { recover } from "../src/broker/recovery.ts";
import { edit } from "../src/core/apply/edit.ts";
import { type FrozenState, freeze } from "../src/core/apply/snapshot.ts";
import { decide } from "../src/core/decide/decide.ts";
import type { RequestId } from "../src/core/model/ids.ts";
import type { State } from "../src/core/model/state.ts";
import { SqliteJournal } from "../src/journal/sqlite.ts";
import { type Running, serve } from "../src/server/main.ts";

const fixture = fileURLToPath(new URL("fixtures/data-folder-v1/", import.meta.url));
const folders = ["events", "snapshot"] as const;

let data: string;
let running: Running | undefined;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "berth-old-data-"));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await rm(data, { recursive: true });
});

async function openCopy(folder: string): Promise<SqliteJournal> {
  await cp(join(fixture, folder), data, { recursive: true });
  return SqliteJournal.open(data);
}

async function frozenByOldBerth(): Promise<FrozenState> {
  return JSON.parse(await readFile(join(fixture, "state.json"), "utf8"));
}

/** A pool that was pinned before its first grant: the older Berth left its interval out. */
function withInterval({ pools, ...rest }: FrozenState): object {
  const pace = { baseAt: 0, ticks: 0, everyMs: 12_000, share: 0 };
  return {
    ...rest,
    pools: pools.map((pool) => (pool.name === "metal" ? { ...pool, pace } : pool)),
  };
}

/** Who drained a resource, and why: the older Berth had it in its events, and not in its snapshots. */
function forgetDrainReasons({ resources }: State): void {
  for (const resource of resources.values()) edit(resource).drainReason = null;
}

describe("recover()", () => {
  test.each(folders)(
    "restores the state that the older Berth had, in the folder %s",
    async (name) => {
      const journal = await openCopy(name);
      const { state, head, replayed } = await recover(journal);
      expect([head, replayed]).toEqual([327, name === "snapshot" ? 57 : 327]);
      forgetDrainReasons(state);
      const frozen: unknown = JSON.parse(JSON.stringify(freeze(state)));
      expect(frozen).toEqual(withInterval(await frozenByOldBerth()));
      await journal.close();
    },
  );

  test("restores the same state from the snapshot as from the first event, field by field", async () => {
    const journal = await openCopy("snapshot");
    const { state, at } = await recover(journal);
    const replayed = await recover({
      loadSnapshot: () => Promise.resolve(undefined),
      read: (seq) => journal.read(seq),
    });
    for (const one of [state, replayed.state]) forgetDrainReasons(one);
    expect(stateDifference(state, replayed.state)).toBeUndefined();
    for (const one of [state, replayed.state]) {
      decide(one, { type: "give-grace" }, at);
      checkState(one, at);
    }
    await journal.close();
  });

  test("reads every kind of event that the older Berth wrote", async () => {
    const journal = await openCopy("events");
    const types = new Set<string>();
    for await (const { events } of journal.read(0)) for (const { type } of events) types.add(type);
    expect(types.size).toBe(24);
    await journal.close();
  });
});

async function start(): Promise<Running> {
  running = await serve({
    ...{ config: join(fixture, "berth.yaml"), data, memory: false, listen: "127.0.0.1:0" },
    ...{ insecureListen: false, logLevel: "silent", janitor: false },
  });
  return running;
}

interface Listed {
  readonly id: string;
  readonly holder: string;
  readonly claims: readonly { readonly resource: string; readonly fence: number }[];
}

async function list({ url }: Running, what: "leases" | "requests"): Promise<readonly Listed[]> {
  const response = await fetch(`${url}/v1/${what}?limit=1000`);
  return ((await response.json()) as { items: Listed[] }).items;
}

/** Who holds what, and who waits: all that clients of the older Berth rely on. */
async function standing(server: Running) {
  const leases = await list(server, "leases");
  const requests = await list(server, "requests");
  return {
    leases: leases.map(({ id, holder, claims }) => {
      return { id, holder, claims: claims.map(({ resource, fence }) => ({ resource, fence })) };
    }),
    requests: requests.map(({ id, holder }) => ({ id, holder })),
  };
}

type Standing = Awaited<ReturnType<typeof standing>>;

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

function standingOf({ leases, requests }: FrozenState): Standing {
  const held = leases.map(({ id, ask: { holder }, claims }) => {
    return { id, holder, claims: claims.map(({ resource, fence }) => ({ resource, fence })) };
  });
  const waiting = requests.map(({ id, ask: { holder } }) => ({ id, holder }));
  return { leases: held.sort(byId), requests: waiting.sort(byId) };
}

async function frozenIn(folder: string): Promise<FrozenState> {
  const journal = SqliteJournal.open(folder);
  const { state } = await recover(journal);
  await journal.close();
  return freeze(state);
}

describe("serve()", () => {
  test.each(folders)("continues with the folder %s: holders, queue, restart", async (name) => {
    const journal = await openCopy(name);
    const tokens = new Tokens(journal.secret);
    await journal.close();
    const call = (method: string, path: string, id: string): Promise<Response> => {
      const headers = { authorization: `Bearer ${tokens.of(id as RequestId)}` };
      return fetch(`${running?.url}${path}`, { method, headers });
    };
    const first = await start();
    const before = standingOf(await frozenByOldBerth());
    expect(await standing(first)).toEqual(before);

    expect((await call("POST", "/v1/leases/lim-1/heartbeat", "lim-1")).status).toBe(200);
    expect((await call("POST", "/v1/leases/lim-1/heartbeat", "lim-3")).status).toBe(403);
    const update = "/update?name=held-3&owner=prow&state=busy";
    expect((await call("POST", update, "")).status).toBe(200);
    // What lim-3 had goes to the first in line, which has waited since the older Berth.
    expect((await call("DELETE", "/v1/leases/lim-3", "lim-3")).status).toBe(204);
    const after = await standing(first);
    const goneOn = after.leases.find(({ id }) => id === "end-3");
    expect(goneOn).toMatchObject({ holder: "job-end-3" });
    // The older Berth counted up to 80. Fences now follow the clock, so they are larger.
    expect(goneOn?.claims.map(({ fence }) => fence > 80)).toEqual([true]);
    expect(after.leases.map(({ id }) => id)).toEqual(
      before.leases
        .flatMap(({ id }) => (id === "lim-3" ? [] : [id]))
        .concat("end-3")
        .sort(),
    );
    await first.stop();

    const kept = await frozenIn(data);
    const second = await start();
    expect(await standing(second)).toEqual(after);
    await second.stop();
    expect(await frozenIn(data)).toEqual(kept);
  });
});
