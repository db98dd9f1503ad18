/** Imports the resources of a Boskos into a data folder that no server uses. */

import { existsSync } from "node:fs";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import { freeze, thaw } from "../../core/apply/snapshot.ts";
import { decide } from "../../core/decide/decide.ts";
import type { Command, ImportedResource } from "../../core/model/command.ts";
import type { PoolName, ResourceName } from "../../core/model/ids.ts";
import { freeState } from "../../core/model/lifecycle.ts";
import type { LeftOut, Outcome } from "../../core/model/outcome.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { MemoryJournal } from "../../journal/memory.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import type { BoskosObjects, BoskosResource } from "./boskos-objects.ts";

export interface ImportOptions {
  readonly pools: readonly PoolSpec[];
  readonly objects: BoskosObjects;
  /** The data folder. */
  readonly data: string;
  /** Change nothing, and do not create the folder. */
  readonly dryRun: boolean;
}

export interface ImportReport {
  /** The number of imported resources in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly resources: number;
  readonly leases: number;
  /** Imported because they are held. They are removed when they are released. */
  readonly unlisted: readonly string[];
  /** The number of resources that the same holder already has here, from an earlier run. */
  readonly already: number;
  readonly left: readonly LeftBehind[];
}

export interface LeftBehind extends LeftOut {
  /** The owner in Boskos; empty if it has none. */
  readonly owner: string;
  /** The holder here. */
  readonly holder: string;
}

/** Throws the errors of opening a journal: the folder cannot be used, or a process uses it. */
export async function importBoskos(options: ImportOptions): Promise<ImportReport> {
  const { data, dryRun } = options;
  const journal = dryRun && !existsSync(data) ? new MemoryJournal() : SqliteJournal.open(data);
  try {
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    try {
      const submit = dryRun
        ? await rehearsal(broker)
        : (command: Command) => broker.submit(command, { way: "import" });
      const report = await carryOver(options, submit);
      return withHolders(report, await broker.read(holders));
    } finally {
      await broker.close();
    }
  } finally {
    await journal.close();
  }
}

type Submit = (command: Command) => Promise<Outcome>;

/** Runs the import on a copy of the state, to report its result. */
async function rehearsal(broker: Broker): Promise<Submit> {
  const { copy, now } = await broker.read((state, at) => ({ copy: thaw(freeze(state)), now: at }));
  return async (command) => decide(copy, command, now).outcome;
}

type Found = Omit<ImportReport, "already" | "left"> & { readonly left: readonly Missed[] };
type Missed = LeftOut & { readonly owner: string };

async function carryOver({ pools, objects }: ImportOptions, submit: Submit): Promise<Found> {
  // Creates no dynamic resources before the existing ones are imported, or there would be too many.
  await submit({ type: "configure", pools: pools.map(withoutMinimum) });
  const resources = objects.resources.toSorted(longestUntouchedFirst);
  const outcome = await submit({ type: "import", resources: resources.map(imported) });
  await submit({ type: "configure", pools });
  if (outcome.type !== "imported") throw new Error(`Cannot import: ${outcome.type}`);
  const owners = new Map(resources.map(({ name, owner }) => [name, owner]));
  const left = outcome.left.map((each) => ({ ...each, owner: owners.get(each.resource) ?? "" }));
  const gone = new Set<string>(left.map(({ resource }) => resource));
  const carried = resources.filter(({ name }) => !gone.has(name));
  const states = Map.groupBy(carried, stateOf);
  return {
    states: Object.fromEntries(Array.from(states, ([state, { length }]) => [state, length])),
    resources: carried.length,
    leases: outcome.leases,
    unlisted: carried.filter(isUnlisted(pools)).map(({ name }) => name),
    left,
  };
}

function isUnlisted(pools: readonly PoolSpec[]): (resource: BoskosResource) => boolean {
  const dynamic = new Set<string>(pools.filter(({ policy }) => policy.dynamic).map((p) => p.name));
  const listed = new Set<string>(pools.flatMap(({ members }) => members.map((m) => m.name)));
  return ({ name, type }) => !listed.has(name) && !dynamic.has(type);
}

function withoutMinimum(pool: PoolSpec): PoolSpec {
  const { dynamic } = pool.policy;
  if (dynamic === undefined) return pool;
  return { ...pool, policy: { ...pool.policy, dynamic: { ...dynamic, min: 0 } } };
}

/** Resources that Boskos never updated have no time and come first. */
function longestUntouchedFirst(a: BoskosResource, b: BoskosResource): number {
  const [first, second] = [a.updatedAt ?? 0, b.updatedAt ?? 0];
  return first === second ? (a.name < b.name ? -1 : 1) : first - second;
}

function imported(resource: BoskosResource): ImportedResource {
  const { name, type, owner, userData, updatedAt, expiresAt } = resource;
  return {
    name: name as ResourceName,
    pool: type as PoolName,
    state: stateOf(resource),
    holder: owner,
    id: newRequestId(Date.now()),
    userData,
    ...(updatedAt === undefined ? undefined : { updatedAt: updatedAt as Instant }),
    ...(expiresAt === undefined ? undefined : { expiresAt: expiresAt as Instant }),
  };
}

function stateOf({ state }: BoskosResource): string {
  return state === "" ? freeState : state;
}

function holders({ leases }: State): ReadonlyMap<ResourceName, string> {
  const held = new Map<ResourceName, string>();
  for (const { ask, claims } of leases.values()) {
    for (const { resource } of claims) held.set(resource.name, ask.holder);
  }
  return held;
}

function withHolders(found: Found, held: ReadonlyMap<ResourceName, string>): ImportReport {
  const left = found.left.map((each) => ({ ...each, holder: held.get(each.resource) ?? "" }));
  const others = left.filter(
    ({ why, owner, holder }) => why !== "held_already" || owner !== holder,
  );
  return { ...found, already: left.length - others.length, left: others };
}
