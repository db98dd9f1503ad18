/** Requests of a shared pool, and such that a decision fails on. */
import { pool } from "../core/decide/lending.suite.ts";
import type { Ask, Command } from "../core/model/command.ts";
import type { RequestId } from "../core/model/ids.ts";
import { capacityPool, vsphere } from "../core/shared/capacity.suite.ts";

export const pools = () => [
  capacityPool({ hv: { capacity: { vcpus: 4 } } }, { ttlMs: 60_000 }),
  pool("aws", 1),
];

export function ask(id: string, vcpus: number, ttlMs?: number): Command {
  const items: Ask["items"] = [{ pool: vsphere, count: 1, amount: { vcpus } }];
  return {
    type: "acquire",
    id: id as RequestId,
    ask: { holder: id, items, ...(ttlMs === undefined ? undefined : { ttlMs }) },
    waitMs: 0,
  };
}

/** It waits like any other; its grant throws, as a bug in the core would. */
export function poisonedAsk(id: string): Command {
  const items: Ask["items"] = [{ pool: vsphere, count: 1, amount: { vcpus: 2 } }];
  const lifetimeMs = "no number" as unknown as number;
  return {
    type: "acquire",
    id: id as RequestId,
    ask: { holder: id, items, lifetimeMs },
    waitMs: 0,
  };
}
