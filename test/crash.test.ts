/**
 * `kill -9` under load, again and again, against the real server: what was acknowledged is there when
 * it comes back, and nothing is ever lent to two.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Lease } from "../src/api/schemas.ts";
import { TestServer } from "./cli-processes.ts";

const crashes = 12;
const jobs = 24;
/** Grants before a kill, and again after it. */
const grantsMin = 40;
/** Without a lock-delay, because the leases that a round leaves behind are revoked. */
const pools = { slot: { count: 8, ttl: "1h", lockDelay: "0s" } };

/** What the jobs were told, and what they have done about it. */
class Account {
  readonly holders = new Map<string, string>();
  readonly fences = new Map<string, number>();
  readonly held = new Map<string, Lease>();
  readonly released = new Set<string>();
  /** Released since the last audit. */
  readonly newlyReleased = new Set<string>();
  grants = 0;
  #granted = Promise.withResolvers<void>();

  /** Resolves after this many more grants. */
  async moreGrants(count: number): Promise<void> {
    for (const wanted = this.grants + count; this.grants < wanted; ) await this.#granted.promise;
  }

  took(lease: Lease): void {
    this.grants += 1;
    this.#granted.resolve();
    this.#granted = Promise.withResolvers();
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
    await pause(Math.random() * 20);
    if (stop.aborted) return;
    account.givesBack(lease);
    const gone = await insist(stop, async () => {
      const headers = { authorization: `Bearer ${lease.token}` };
      const reply = await fetch(`${url}/v1/leases/${lease.id}`, { method: "DELETE", headers });
      return reply.status === 204 || undefined;
    });
    if (!gone) continue;
    account.released.add(lease.id);
    account.newlyReleased.add(lease.id);
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
    // Shorter pauses would take the processor from the server that starts.
    await pause(50);
  }
  return undefined;
}

/** Compares the server with everything that it has acknowledged. */
async function audit(url: string, account: Account): Promise<void> {
  for (const lease of account.held.values()) {
    const reply = await fetch(`${url}/v1/leases/${lease.id}`);
    expect(reply.status, `the lease ${lease.id} was acknowledged`).toBe(200);
    const { claims } = (await reply.json()) as Lease;
    expect(claims.map(({ resource, fence }) => [resource, fence])).toEqual(
      lease.claims.map(({ resource, fence }) => [resource, fence]),
    );
  }
  await auditReleases(url, account.newlyReleased);
  account.newlyReleased.clear();
  const listing = (await (await fetch(`${url}/v1/leases?limit=1000`)).json()) as { items: Lease[] };
  const again = listing.items.filter(({ id }) => account.released.has(id));
  expect(again, "a lease is back whose release was acknowledged").toEqual([]);
  const claimed = listing.items.flatMap(({ claims }) => claims.map(({ resource }) => resource));
  expect(new Set(claimed).size, "a resource has two leases").toBe(claimed.length);
}

async function auditReleases(url: string, ids: Iterable<string>): Promise<void> {
  for (const id of ids) {
    const reply = await fetch(`${url}/v1/leases/${id}`);
    expect(reply.status, `the release of ${id} was acknowledged`).toBe(410);
  }
}

test("a server that is killed under load loses nothing and lends nothing twice", async () => {
  const account = new Account();
  await using server = await TestServer.start(pools);
  const { url } = server;
  for (let crash = 1; crash <= crashes; crash++) {
    const stop = new AbortController();
    const names = Array.from({ length: jobs }, (_, index) => `job-${crash}-${index}`);
    const working = names.map((name) => job(name, url, account, stop.signal));
    await account.moreGrants(grantsMin);
    await pause(Math.random() * 20); // At any moment between request, commit and reply.
    await server.stop("SIGKILL");
    await server.start();
    await account.moreGrants(grantsMin); // The jobs repeat their requests with the same ids.
    stop.abort();
    await Promise.all(working);
    await audit(url, account);
    for (const lease of account.held.values()) account.givesBack(lease);
    await releaseEverything(url);
  }
  expect(account.grants).toBeGreaterThanOrEqual(2 * crashes * grantsMin);
  await auditReleases(url, account.released);
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

/** First the queue, because a lease that ends would be granted to the next request in it. */
async function releaseEverything(url: string): Promise<void> {
  for (const [kind, query] of [
    ["requests", "force=true"],
    ["leases", "force=true&gone=true"],
  ]) {
    const reply = await fetch(`${url}/v1/${kind}?limit=1000`);
    const { items } = (await reply.json()) as { items: { id: string }[] };
    for (const { id } of items)
      await fetch(`${url}/v1/${kind}/${id}?${query}`, { method: "DELETE" });
  }
}
