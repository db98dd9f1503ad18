/**
 * `kill -9` under load, again and again, against the real server: what was acknowledged is there when
 * it comes back, and nothing is ever lent to two.
 */
import { expect, test } from "vitest";
import type { Lease } from "../src/api/schemas.ts";
import { TestServer } from "./cli-processes.ts";

const crashes = 12;
const jobs = 24;
const pools = { slot: { count: 8, ttl: "1h" } };

/** What the jobs were told, and what they have done about it. */
class Account {
  readonly holders = new Map<string, string>();
  readonly fences = new Map<string, number>();
  readonly held = new Map<string, Lease>();
  readonly released = new Set<string>();
  grants = 0;

  took(lease: Lease): void {
    this.grants += 1;
    for (const { resource, fence } of lease.claims) {
      const other = this.holders.get(resource);
      expect(other ?? lease.id, `${resource} was lent to two`).toBe(lease.id);
      expect(fence, `the fence of ${resource}`).toBeGreaterThanOrEqual(
        this.fences.get(resource) ?? 0,
      );
      this.holders.set(resource, lease.id);
      this.fences.set(resource, fence);
    }
    this.held.set(lease.id, lease);
  }

  /** From here on the job no longer counts on it. */
  givesBack(lease: Lease): void {
    for (const { resource } of lease.claims) this.holders.delete(resource);
    this.held.delete(lease.id);
  }
}

/** Takes and gives back until told to stop; whatever fails is tried again with the same id. */
async function job(name: string, url: string, account: Account, stop: AbortSignal): Promise<void> {
  for (let turn = 1; !stop.aborted; turn++) {
    const body = JSON.stringify({
      holder: name,
      items: [{ pool: "slot" }],
      requestId: `${name}.${turn}`,
      wait: "1s",
    });
    const lease = await insist(stop, async () => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${url}/v1/leases`, { method: "POST", headers, body });
      const found = (await reply.json()) as Lease;
      return reply.status === 201 ? found : undefined;
    });
    if (lease === undefined) return;
    account.took(lease);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    if (stop.aborted) return;
    account.givesBack(lease);
    const gone = await insist(stop, async () => {
      const headers = { authorization: `Bearer ${lease.token}` };
      const reply = await fetch(`${url}/v1/leases/${lease.id}`, { method: "DELETE", headers });
      return reply.status === 204 || undefined;
    });
    if (gone) account.released.add(lease.id);
  }
}

async function insist<T>(
  stop: AbortSignal,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  while (!stop.aborted) {
    try {
      const found = await attempt();
      if (found !== undefined) return found;
    } catch {
      // The server is down; it comes back.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return undefined;
}

/** Asks the server about everything that anybody was told. */
async function audit(url: string, account: Account): Promise<void> {
  for (const lease of account.held.values()) {
    const reply = await fetch(`${url}/v1/leases/${lease.id}`);
    expect(reply.status, `the lease ${lease.id} was acknowledged`).toBe(200);
    const { claims } = (await reply.json()) as Lease;
    expect(claims.map(({ resource, fence }) => [resource, fence])).toEqual(
      lease.claims.map(({ resource, fence }) => [resource, fence]),
    );
  }
  for (const id of account.released) {
    const reply = await fetch(`${url}/v1/leases/${id}`);
    expect(reply.status, `the release of ${id} was acknowledged`).toBe(410);
  }
  const listing = (await (await fetch(`${url}/v1/leases?limit=1000`)).json()) as { items: Lease[] };
  const claimed = listing.items.flatMap(({ claims }) => claims.map(({ resource }) => resource));
  expect(new Set(claimed).size, "a resource has two leases").toBe(claimed.length);
}

test("a server that is killed under load loses nothing and lends nothing twice", async () => {
  const account = new Account();
  await using server = await TestServer.start(pools);
  const { url } = server;
  for (let crash = 1; crash <= crashes; crash++) {
    const stop = new AbortController();
    const names = Array.from({ length: jobs }, (_, index) => `job-${crash}-${index}`);
    const working = names.map((name) => job(name, url, account, stop.signal));
    await someTime();
    await server.stop("SIGKILL");
    await server.start();
    await someTime(); // Those who were cut off ask again, with the ids that they had.
    stop.abort();
    await Promise.all(working);
    await audit(url, account);
    for (const lease of account.held.values()) account.givesBack(lease);
    await releaseEverything(url);
  }
  expect(account.grants).toBeGreaterThan(crashes);
  await auditHistory(url, account);
}, 240_000);

/** However often it was killed while it wrote: each that ended is there, and once. */
async function auditHistory(url: string, account: Account): Promise<void> {
  const told: string[] = [];
  for (let after = ""; ; ) {
    const reply = await fetch(`${url}/v1/history?limit=1000${after}`);
    const { items, next } = (await reply.json()) as { items: { id: string }[]; next: string };
    told.push(...items.map(({ id }) => id));
    if (next === null) break;
    after = `&after=${next}`;
  }
  expect(new Set(told).size, "an end is told of twice").toBe(told.length);
  expect([...account.released].filter((id) => !told.includes(id))).toEqual([]);
}

function someTime(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
}

/** Also grants whose answer was lost: their jobs would have asked again, or they would expire. */
async function releaseEverything(url: string): Promise<void> {
  const { items } = (await (await fetch(`${url}/v1/leases?limit=1000`)).json()) as {
    items: Lease[];
  };
  for (const { id } of items)
    await fetch(`${url}/v1/leases/${id}?force=true&gone=true`, { method: "DELETE" });
  const queue = (await (await fetch(`${url}/v1/requests?limit=1000`)).json()) as {
    items: { id: string }[];
  };
  for (const { id } of queue.items)
    await fetch(`${url}/v1/requests/${id}?force=true`, { method: "DELETE" });
}
