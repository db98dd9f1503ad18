/** What a seed creates: pools, jobs, and edits of the configuration. */
import type { Ask } from "../src/core/model/command.ts";
import type { PoolName, ResourceName, SpaceName } from "../src/core/model/ids.ts";
import {
  defaultAdaptive,
  defaultPolicy,
  type PoolPolicy,
  type PoolSpec,
} from "../src/core/model/policy.ts";
import type { PrioritiesSpec } from "../src/core/model/priority.ts";
import { anySpace, type SpacesSpec } from "../src/core/model/space.ts";
import { strategies } from "../src/core/model/strategies.ts";
import type { Placing } from "../src/core/shared/placement/demand.ts";
import type { Random } from "../src/insight/forecast/random.ts";

export function randomPools(random: Random): PoolSpec[] {
  const whole = randomWhole(random);
  if (!random.chance(0.4)) return whole;
  const shared = randomShared(random);
  const account = whole.find(({ members: { length } }) => length === 0);
  if (account === undefined || random.chance(0.3)) return [...whole, shared];
  return [...whole, { ...shared, policy: { ...shared.policy, parent: account.name } }];
}

function randomWhole(random: Random): PoolSpec[] {
  const names = ["aws", "gcp", "slots", "metal"].slice(0, random.between(1, 4));
  const pools = names.map((name) => ({
    name: name as PoolName,
    policy: randomPolicy(random),
    members: members(name, random.between(1, 5)),
  }));
  return random.chance(0.4) ? drawn(pools, random) : pools;
}

/** Some pools get a parent. Every limit allows the largest request. */
function drawn(pools: readonly PoolSpec[], random: Random): PoolSpec[] {
  const account = {
    name: "account" as PoolName,
    policy: { ...randomPolicy(random), limit: random.between(1, 6) },
    members: [],
  };
  const parents = [account.name];
  const children = pools.map((pool) => {
    if (random.chance(0.3)) return pool;
    const parent = random.pick(parents);
    parents.push(pool.name);
    return { ...pool, policy: { ...pool.policy, parent } };
  });
  return [account, ...children];
}

const networks = ["vlan-1", "vlan-2", "vlan-3"];

/** A shared pool with resources of different sizes, sites and networks. */
function randomShared(random: Random): PoolSpec {
  return {
    name: "vsphere" as PoolName,
    policy: {
      ...randomPolicy(random),
      cooldownMs: 0,
      lockDelayMs: 0,
      placement: { strategy: random.pick(strategies) },
    },
    members: rooms(random, random.between(1, 4)),
  };
}

function rooms(random: Random, count: number): PoolSpec["members"] {
  return Array.from({ length: count }, (_, index) => ({
    name: `vsphere-${index + 1}` as ResourceName,
    labels: { vcenter: random.pick(["a", "b"]) },
    room: {
      index,
      capacity: { vcpus: random.between(4, 16), memory: random.between(8, 32) },
      parts: { networks: networks.filter(() => random.chance(0.7)) },
      ...(random.chance(0.3) ? { overcommit: { vcpus: "1.5" } } : undefined),
    },
  }));
}

function randomPolicy(random: Random): PoolPolicy {
  const [ttlMs, cooldownMs] = [random.between(10, 60) * 1_000, random.pick([0, 0, 0, 5_000])];
  const lockDelayMs = random.pick([0, 1_000, 15_000]);
  return {
    ...{ ...defaultPolicy, ttlMs, cooldownMs, lockDelayMs },
    // Follows the lock-delay and is not drawn, so that every seed keeps its story.
    ...(lockDelayMs === 1_000 ? { states: ["free", "dirty"] } : undefined),
    ...(ttlMs % 3_000 === 0 ? undefined : { cost: (ttlMs / 1_000) % 3 }),
    holdMs: random.pick([null, null, null, 20_000]),
    lifetimeMs: random.pick([null, null, null, 90_000]),
    patienceMs: random.pick([0, 20_000, 120_000]),
    onRelease: random.pick(["free", "free", "dirty"]),
    onExpire: random.pick(["free", "free", "dirty", "quarantined"]),
    ...randomPace(random),
    ...(random.chance(0.2) ? { admission: { by: "the cluster" } } : undefined),
  };
}

function relimited(pool: PoolSpec, random: Random): PoolSpec {
  const policy = random.chance(0.2) ? repaced(pool.policy, random) : pool.policy;
  return { ...pool, policy: { ...policy, limit: random.between(1, 6) } };
}

function repaced({ pace: _, adaptive: __, ...policy }: PoolPolicy, random: Random): PoolPolicy {
  return { ...policy, ...randomPace(random) };
}

function randomPace(random: Random): Pick<PoolPolicy, "pace" | "adaptive"> {
  return { ...someAdaptive(random), ...somePace(random) };
}

function someAdaptive(random: Random): Pick<PoolPolicy, "adaptive"> {
  if (random.chance(0.8)) return {};
  const mode = random.pick(["off", "advise", "auto", "auto"] as const);
  const hurry = { cutEveryMs: 20_000, raiseAfterMs: 40_000, step: 2 };
  return { adaptive: { ...defaultAdaptive, ...hurry, mode, min: 4, max: 40 } };
}

function somePace(random: Random): Pick<PoolPolicy, "pace"> {
  if (random.chance(0.6)) return {};
  const everyMs = random.pick([1_000, 4_000, 15_000, "auto" as const]);
  return { pace: { everyMs, burst: random.between(1, 3), jitter: random.pick([0, 0.25, 1]) } };
}

function members(pool: string, count: number, shift = 0): PoolSpec["members"] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${pool}-${index + 1}` as ResourceName,
    labels: { zone: zones[(index + shift) % zones.length] ?? "" },
  }));
}

/** The labels by which jobs select resources of exclusive pools. */
export const zones = ["a", "b"];

export const spaceNames = ["red", "green", "blue"] as SpaceName[];

/** Weights and quotas of some spaces. Others may come, with the weight 1. */
export function randomSpaces(random: Random, pools: readonly PoolSpec[]): SpacesSpec {
  const spaces = spaceNames
    .filter(() => random.chance(0.7))
    .map((name) => ({
      name,
      policy: {
        weight: random.pick([1, 1, 2, 0.5]),
        ...(random.chance(0.5) ? { cohort: random.pick(["warm", "cold"]) } : undefined),
        quotas: pools.flatMap(({ name: pool, policy }) => {
          if (random.chance(0.6)) return [];
          const isShared = policy.placement !== undefined && random.chance(0.5);
          const max = isShared ? random.between(8, 40) : random.between(1, 4);
          const bounds = {
            ...(random.chance(0.2) ? { borrow: random.between(0, 3) } : undefined),
            ...(random.chance(0.2) ? { lend: random.between(0, 3) } : undefined),
          };
          return [{ pool, max, ...bounds, ...(isShared ? { dimension: "vcpus" } : undefined) }];
        }),
        ...(random.chance(0.3) ? { costMax: random.between(2, 8) } : undefined),
        ...(random.chance(0.3) ? { priorityMax: random.between(-1, 1) } : undefined),
      },
    }));
  return { ...anySpace, spaces };
}

/** Some exclusive pools take leases back for waiting requests. */
export function withPreemption(pools: readonly PoolSpec[], random: Random): PoolSpec[] {
  return pools.map((pool) => {
    if (pool.policy.placement !== undefined || random.chance(0.6)) return pool;
    const noticeMs = random.pick([0, 5_000, 20_000]);
    return { ...pool, policy: { ...pool.policy, preempt: true, noticeMs } };
  });
}

/** How priorities rise in some worlds; undefined: they do not. */
export function randomPriorities(random: Random): PrioritiesSpec | undefined {
  if (random.chance(0.5)) return undefined;
  const everyMs = random.pick([10_000, 30_000, 120_000]);
  const ageing = { everyMs, step: random.between(1, 2), max: random.between(-1, 2) };
  return { classes: { urgent: 2, nightly: -1 }, ageing };
}

/** The ask as one of a space, or of none. The edge puts the space in front of the group's name. */
export function inSpace(ask: Ask, random: Random): Ask {
  if (random.chance(0.1)) return ask;
  const space = random.pick(spaceNames);
  const { group } = ask;
  if (group === undefined) return { ...ask, space };
  return { ...ask, space, group: { ...group, name: `${space}/${group.name}` } };
}

/** An edit of the file: sizes change, a pool is removed, a resource moves to another pool. */
export function editedPools(pools: readonly PoolSpec[], random: Random): PoolSpec[] {
  const edited = pools.map((pool) => {
    if (pool.members.length === 0) return relimited(pool, random);
    const size = Math.max(1, pool.members.length + random.between(-2, 2));
    if (pool.policy.placement !== undefined) return { ...pool, members: rooms(random, size) };
    const policy = random.chance(0.2) ? repaced(pool.policy, random) : pool.policy;
    const shift = random.chance(0.2) ? 1 : 0;
    return { ...pool, policy, members: members(pool.name, size, shift) };
  });
  const [first, second] = edited;
  const isWhole = second?.policy.placement === undefined;
  if (first !== undefined && second !== undefined && isWhole && random.chance(0.3)) {
    const [moved, ...rest] = first.members;
    if (moved !== undefined) {
      return [
        { ...first, members: rest },
        { ...second, members: [...second.members, moved] },
        ...edited.slice(2),
      ];
    }
  }
  return random.chance(0.2) ? edited.slice(0, -1) : edited;
}

/** The pools that accept the same items. */
function alike({ placement }: PoolPolicy, pools: readonly PoolSpec[]): PoolSpec[] {
  return pools.filter(
    ({ policy }) => (policy.placement === undefined) === (placement === undefined),
  );
}

export function randomAsk(random: Random, all: readonly PoolSpec[], holder: string): Ask {
  const pools = all.filter(({ members: { length } }) => length > 0);
  const several = random.chance(0.3);
  const chosen = several ? pools.filter(() => random.chance(0.6)) : [random.pick(pools)];
  const wanted = chosen.length === 0 ? [random.pick(pools)] : chosen;
  return {
    holder,
    items: wanted.map(({ name, policy, members }) => ({
      pool: name,
      count: random.chance(0.2) ? random.between(1, members.length) : 1,
      ...(random.chance(0.2) ? { anyOf: [random.pick(alike(policy, pools)).name] } : {}),
      ...(policy.placement === undefined
        ? randomSelection(random, members)
        : randomPlacing(random)),
    })),
    ...(random.chance(0.15) ? { group: randomGroup(random) } : {}),
    ...(random.chance(0.8) ? { key: `key-${holder}` } : {}),
    ...(random.chance(0.15) ? { priority: random.between(-1, 2) } : {}),
    ...(random.chance(0.2) ? { ttlMs: random.between(5, 30) * 1_000 } : {}),
  };
}

/** Some requests want a zone, some want one resource by its name. */
function randomSelection(random: Random, members: PoolSpec["members"]): Placing {
  if (random.chance(0.75)) return {};
  if (random.chance(0.7)) return { selector: { zone: random.pick(zones) } };
  return { resource: random.pick(members).name };
}

function randomPlacing(random: Random): Placing {
  return {
    amount: {
      vcpus: random.between(1, random.chance(0.2) ? 16 : 4),
      memory: random.between(0, 8),
      ...(random.chance(0.4) ? { networks: 1 } : undefined),
    },
    ...(random.chance(0.1) ? { spread: "vcenter" } : undefined),
    ...(random.chance(0.1) ? { atMost: { vcenter: 1 } } : undefined),
    ...(random.chance(0.1) ? { selector: { vcenter: "a" } } : undefined),
  };
}

/** Few names and several sizes, so that groups become full, and some requests do not match. */
function randomGroup(random: Random): NonNullable<Ask["group"]> {
  return { name: random.pick(["g", "h"]), size: random.pick([1, 2, 2, 2, 3]) };
}
