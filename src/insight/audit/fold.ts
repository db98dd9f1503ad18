/** Makes the entries of the audit from the events of the journal. */
import type { Item } from "../../core/model/command.ts";
import type { DurableEvent } from "../../core/model/event.ts";
import type { Origin, Way } from "../../core/model/origin.ts";
import type { State } from "../../core/model/state.ts";
import type { Recorded } from "../../journal/journal.ts";
import { ConfigurationEntry, isConfiguration } from "./configuration.ts";
import { describeEvent, type EventFacts } from "./describe-event.ts";
import type { AuditFacts } from "./entry.ts";

/** What later events of a request or lease do not repeat. */
export interface OpenLease {
  readonly holder: string;
  readonly space?: string;
  /** Who has asked. */
  readonly by?: string;
  readonly way?: Way;
  readonly pools: readonly string[];
}

export interface NewEntry {
  readonly at: number;
  readonly facts: AuditFacts;
}

/** What is not stored yet. */
export interface AuditChanges {
  readonly entries: readonly NewEntry[];
  /** Requests and leases that began, changed or ended. */
  readonly touched: ReadonlySet<string>;
  /** Null: the resource was removed. */
  readonly members: ReadonlyMap<string, string | null>;
}

export interface Standing {
  readonly open: Map<string, OpenLease>;
  /** The pool of each resource. */
  readonly members: Map<string, string>;
}

export class AuditFold {
  readonly open: Map<string, OpenLease>;
  readonly #members: Map<string, string>;
  #entries: NewEntry[] = [];
  #lastHolder: OpenLease | undefined;
  #touched = new Set<string>();
  #moved = new Map<string, string | null>();

  constructor({ open, members }: Standing) {
    this.open = open;
    this.#members = members;
  }

  follow({ seq, at, events }: Recorded): void {
    let number = seq;
    let configuration: ConfigurationEntry | undefined;
    for (const event of events) {
      if (isConfiguration(event)) {
        const first = { seq: number, event };
        configuration ??= new ConfigurationEntry(first);
        this.#configure(configuration, first);
      } else {
        if (configuration !== undefined) this.note(at, configuration.facts);
        configuration = undefined;
        this.#follow(event, number, at);
      }
      number += 1;
    }
    if (configuration !== undefined) this.note(at, configuration.facts);
  }

  #configure(configuration: ConfigurationEntry, numbered: { seq: number; event: DurableEvent }) {
    const { event } = numbered;
    this.#place(event);
    configuration.add(numbered, (resource) => this.#members.get(resource));
    this.#leave(event);
  }

  /** Records something that is no event. */
  note(at: number, facts: AuditFacts): void {
    this.#entries.push({ at, facts });
  }

  take(): AuditChanges {
    const changes = { entries: this.#entries, touched: this.#touched, members: this.#moved };
    this.#entries = [];
    this.#touched = new Set();
    this.#moved = new Map();
    return changes;
  }

  /** The events before this state are not known. */
  startOver({ leases, requests, resources }: State): void {
    for (const id of this.open.keys()) this.#touched.add(id);
    for (const name of this.#members.keys()) this.#moved.set(name, null);
    this.open.clear();
    this.#members.clear();
    for (const { id, ask } of [...leases.values(), ...requests.values()]) {
      this.#begin(id, ask, undefined);
    }
    for (const { name, pool } of resources.values()) this.#put(name, pool.name);
  }

  #follow(event: DurableEvent, seq: number, at: number): void {
    this.#place(event);
    const facts = describeEvent(event);
    if (facts !== undefined) this.note(at, this.#entryOf(event, seq, facts));
    this.#leave(event);
  }

  #place(event: DurableEvent): void {
    if ("ask" in event && event.ask !== undefined) this.#begin(event.id, event.ask, event.from);
    if ("pool" in event && "resource" in event) this.#put(event.resource, event.pool);
  }

  #leave(event: DurableEvent): void {
    if (event.type === "resource-removed") this.#remove(event.resource);
    if (event.type === "lease-ended" || event.type === "request-left") this.#end(event.id);
  }

  #entryOf(event: DurableEvent, seq: number, facts: EventFacts): AuditFacts {
    const { reason, why, resources = [], detail } = facts;
    const lease = facts.lease === undefined ? undefined : this.open.get(facts.lease);
    if (lease !== undefined && event.from?.asHolder === true) this.#lastHolder = lease;
    const pools = this.#poolsOf(facts, lease);
    const text = reason?.why || why;
    // Without authentication everybody is one name, and the given name is the only other one.
    const as = reason?.as ?? (event.from?.by === reason?.by ? undefined : reason?.by);
    return {
      action: event.type,
      event: seq,
      ...causeOf(event, lease ?? this.#askerOf(event)),
      ...(as === undefined ? undefined : { as }),
      ...(text ? { reason: text } : undefined),
      ...(facts.lease === undefined ? undefined : { lease: facts.lease }),
      ...(lease === undefined ? undefined : { holder: lease.holder }),
      ...(pools.length === 0 ? undefined : { pools }),
      ...(resources.length === 0 ? undefined : { resources }),
      ...(detail === undefined ? undefined : { detail }),
    };
  }

  /** The end of a lease may also remove its resource: that is by the same holder. */
  #askerOf({ from }: DurableEvent): OpenLease | undefined {
    return from?.asHolder === true ? this.#lastHolder : undefined;
  }

  #poolsOf({ pools, resources = [] }: EventFacts, lease: OpenLease | undefined): readonly string[] {
    if (pools !== undefined) return pools;
    const found = new Set(resources.flatMap((name) => this.#members.get(name) ?? []));
    return found.size === 0 ? (lease?.pools ?? []) : [...found];
  }

  #begin(
    id: string,
    { holder, space, items }: { holder: string; space?: string; items: readonly Item[] },
    from: Origin | undefined,
  ): void {
    const pools = new Set(items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]));
    const before = from?.asHolder === true ? this.#lastHolder : undefined;
    // A refresh asks again for the lease that it has just ended, with the token of that lease.
    const isRefresh = before?.holder === holder && before.space === space;
    const by = from?.by ?? (isRefresh ? before?.by : undefined);
    this.open.set(id, {
      holder,
      ...(space === undefined ? undefined : { space }),
      ...(by === undefined ? undefined : { by }),
      ...(from === undefined ? undefined : { way: from.way }),
      pools: [...pools],
    });
    this.#touched.add(id);
  }

  #end(id: string): void {
    if (this.open.delete(id)) this.#touched.add(id);
  }

  #put(resource: string, pool: string): void {
    this.#members.set(resource, pool);
    this.#moved.set(resource, pool);
  }

  #remove(resource: string): void {
    this.#members.delete(resource);
    this.#moved.set(resource, null);
  }
}

/**
 * Who caused an event, and which way. A grant from the queue is what its asker wanted, and the token
 * of a lease stands for its asker.
 */
function causeOf(
  event: DurableEvent,
  lease: OpenLease | undefined,
): Pick<AuditFacts, "way" | "by" | "space" | "leaseSpace"> {
  const { type, from } = event;
  const isAsker = from?.asHolder === true || (from === undefined && type === "lease-granted");
  const by = isAsker ? lease?.by : from?.by;
  const space = (isAsker ? undefined : from?.space) ?? lease?.space;
  const way = from?.way ?? (isOwnWork(event) ? "clock" : "unknown");
  return {
    way: type === "lease-granted" && from === undefined ? (lease?.way ?? way) : way,
    ...(by === undefined ? undefined : { by }),
    ...(space === undefined ? undefined : { space }),
    ...(lease?.space === undefined || lease.space === space
      ? undefined
      : { leaseSpace: lease.space }),
  };
}

/** Whether the broker does this by itself: a deadline has passed, or something has become free. */
function isOwnWork(event: DurableEvent): boolean {
  switch (event.type) {
    case "lease-granted":
      return event.ask === undefined;
    case "lease-ended":
    case "claim-ended":
      return event.why !== "released" && event.why !== "reset";
    case "request-left":
      if (event.reason?.by === "berth") return true;
      return event.why !== "cancelled" && event.why !== "disconnected";
    case "priority-changed":
    case "resource-changed":
      return event.reason === undefined;
    case "rate-changed":
      return event.cause.by === undefined;
    case "resource-added":
      return event.dynamic === true || (event.cluster !== undefined && event.reason === undefined);
    case "lease-revoked":
      return event.reason.by === "berth";
    case "cluster-held":
    case "cluster-moved":
    case "cluster-wanted":
      return event.reason === undefined;
    case "cluster-lost":
    case "cluster-stuck":
    case "claim-replaced":
    case "notice-given":
    case "orphan-gone":
    case "hub-probed":
      return true;
    case "event-skipped":
    case "pool-removed":
    case "pool-resumed":
    case "pool-suspended":
    case "resource-moved":
    case "resource-removed":
      return true;
    default:
      return false;
  }
}
