import { once } from "node:events";
import type { LeaseObject } from "../src/kubernetes/kube-objects.ts";
import type { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { watchLeases } from "../src/kubernetes/watch-leases.ts";
import { byArrival } from "../src/slots/ticket.ts";

/**
 * Sees everything in the order in which the server stored it, and judges by that alone: nobody is granted
 * a slot while somebody who came before still waits, and the fence of a slot only grows.
 */
export class RaceReferee implements AsyncDisposable {
  readonly violations: string[] = [];
  grants = 0;
  readonly #prefix: string;
  readonly #tickets = new Map<string, LeaseObject>();
  readonly #slots = new Map<string, LeaseObject>();
  readonly #fences = new Map<string, number>();
  /** Whose slot was confirmed, or taken over after it slept with it in hand: they have had their turn. */
  readonly #served = new Set<string>();
  /** Who was still waiting ahead when a slot was taken; it counts once the slot is confirmed. */
  readonly #ahead = new Map<string, readonly string[]>();
  /** What happened, for whoever has to find out why. */
  readonly #trail: string[] = [];
  readonly #ended = new AbortController();

  private constructor(prefix: string) {
    this.#prefix = prefix;
  }

  static async watch(store: LeaseStore, prefix: string): Promise<RaceReferee> {
    const referee = new RaceReferee(prefix);
    const { metadata } = await store.list();
    void referee.#follow(store, metadata.resourceVersion);
    return referee;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { signal } = this.#ended;
    const ended = once(signal, "abort");
    this.#ended.abort();
    await ended.catch(() => {});
  }

  async #follow(store: LeaseStore, version: string | undefined): Promise<void> {
    const { signal } = this.#ended;
    try {
      for await (const { type, object } of watchLeases(store, { version, signal })) {
        const { name, resourceVersion } = object.metadata;
        const { holderIdentity, leaseTransitions = "" } = object.spec ?? {};
        this.#trail.push(
          `${resourceVersion} ${type} ${name} ${holderIdentity} ${leaseTransitions}`,
        );
        if (name.startsWith(`${this.#prefix}-wait-`)) this.#ticket(type, object);
        else if (/-\d+$/.test(name)) this.#slot(type, object);
      }
    } finally {
      if (!signal.aborted) this.violations.push("the referee has lost sight");
    }
  }

  #ticket(type: string, ticket: LeaseObject): void {
    if (type === "DELETED") this.#tickets.delete(ticket.metadata.name);
    else this.#tickets.set(ticket.metadata.name, ticket);
  }

  #slot(type: string, lease: LeaseObject): void {
    const { name } = lease.metadata;
    const before = this.#slots.get(name);
    if (type === "DELETED") {
      this.#slots.delete(name);
      return;
    }
    this.#slots.set(name, lease);
    const holder = lease.spec?.holderIdentity ?? "";
    const sameHands =
      before?.spec?.holderIdentity === holder && before.metadata.uid === lease.metadata.uid;
    if (before === undefined || !sameHands) {
      if (before !== undefined && before.metadata.uid === lease.metadata.uid) {
        this.#served.add(before.spec?.holderIdentity ?? "");
      }
      this.#ahead.set(name, this.#waitingAheadOf(holder));
    } else if (before.spec?.leaseTransitions !== lease.spec?.leaseTransitions) {
      this.#granted(lease);
    }
  }

  #waitingAheadOf(holder: string): readonly string[] {
    const holders = new Set([...this.#slots.values()].map(({ spec }) => spec?.holderIdentity));
    const all = [...this.#tickets.values()];
    const own = all.find(({ spec }) => spec?.holderIdentity === holder);
    if (own === undefined) return []; // It found the line empty, or has lost its place and gives back.
    return all
      .filter((other) => byArrival(other, own) < 0)
      .map(({ spec }) => spec?.holderIdentity ?? "")
      .filter((identity) => !holders.has(identity) && !this.#served.has(identity));
  }

  #granted({ metadata, spec }: LeaseObject): void {
    this.grants += 1;
    this.#served.add(spec?.holderIdentity ?? "");
    const { name } = metadata;
    const fence = spec?.leaseTransitions ?? 0;
    const ahead = this.#ahead.get(name) ?? [];
    if (ahead.length > 0) {
      const who = [spec?.holderIdentity ?? "", ...ahead];
      const trail = this.#trail.filter((line) => who.some((each) => line.includes(` ${each} `)));
      const story = [`${name} went to ${who[0]} before ${ahead.join(", ")}`, ...trail];
      this.violations.push(story.join("\n"));
    }
    if (fence <= (this.#fences.get(name) ?? 0)) this.violations.push(`${name}: fence ${fence}`);
    this.#fences.set(name, fence);
  }
}
