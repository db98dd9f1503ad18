/** Helpers for tests of shared pools. */

import type { Lending } from "../decide/lending.suite.ts";
import type { Ask, Command, Item } from "../model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../model/ids.ts";
import { defaultPolicy, type PoolPolicy, type PoolSpec } from "../model/policy.ts";
import type { Amounts, CapacitySpec } from "./placement/shareable.ts";

export interface MemberText extends Partial<CapacitySpec> {
  readonly labels?: Readonly<Record<string, string>>;
}

export const vsphere = "vsphere" as PoolName;

/** `capacityPool({ pool1: { capacity: { vcpus: 120 } } })`, in the order given. */
export function capacityPool(
  members: Readonly<Record<string, MemberText>>,
  policy: Partial<PoolPolicy> = {},
): PoolSpec {
  return {
    name: vsphere,
    policy: { ...defaultPolicy, placement: { strategy: "least-used" }, ...policy },
    members: Object.entries(members).map(([name, { labels = {}, ...spec }], index) => ({
      name: name as ResourceName,
      labels,
      room: { index, capacity: {}, ...spec },
    })),
  };
}

/** Three shared resources with different capacities. */
export const seedPools = (policy: Partial<PoolPolicy> = {}) =>
  capacityPool(
    {
      pool1: sized(120, 1_600, 10_000, "vcenter1"),
      pool2: sized(60, 800, 5_000, "vcenter2"),
      pool3: sized(40, 600, 1_000, "vcenter3"),
    },
    policy,
  );

function sized(vcpus: number, memory: number, storage: number, vcenter: string): MemberText {
  return { capacity: { vcpus, memory, storage }, labels: { vcenter } };
}

export const amounts = (vcpus: number, memory: number, storage: number): Amounts => {
  return { vcpus, memory, storage };
};

type Options = Partial<Omit<Ask, "items">> & { readonly nowOnly?: true };

/** Asks for one amount, or for the given items. */
export function want(
  id: string,
  items: Partial<Item> | readonly Partial<Item>[],
  { nowOnly, ...options }: Options = {},
): Command {
  const list = (Array.isArray(items) ? items : [items]) as readonly Partial<Item>[];
  return {
    type: "acquire",
    id: id as RequestId,
    ask: {
      holder: `job-${id}`,
      items: list.map((item) => ({ pool: vsphere, count: 1, ...item })),
      ...options,
    },
    waitMs: 0,
    ...(nowOnly ? { nowOnly } : undefined),
  };
}

/** The use of each dimension of a resource. */
export function used(lending: Lending, name: string): Record<string, number> {
  const levels = lending.shared(name).levels;
  return Object.fromEntries(levels.map((level) => [level.name, level.used]));
}

/** The names of a lease's parts, by claim. */
export function partsHeld(lending: Lending, id: string): string[][] | undefined {
  const lease = lending.state.leases.get(id as RequestId);
  return lease?.claims.map(({ parts }) => parts.map(({ name }) => name));
}
