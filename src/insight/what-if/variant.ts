/** One configuration to simulate: the present one with some settings changed. */
import { spaceLimits } from "../../config/limits.ts";
import type { Tenancy } from "../../core/decide/configure.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { anySpace, defaultSpacePolicy } from "../../core/model/space.ts";
import { BadSetting, changedBy, parseSetting, settingsRoom, withSettings } from "./settings.ts";
import type { WhatIf } from "./what-if.ts";

/** No pool has a colon in its name. */
const spacePrefix = "space:";

export interface InForce {
  readonly pools: readonly PoolSpec[];
  readonly tenancy: Tenancy;
}

export type Variant = Pick<WhatIf, "pools" | "changed" | "inForce"> & {
  readonly tenancy: Tenancy;
};

/**
 * `POOL.KEY=VALUE`, or `space:NAME.weight=VALUE`. Throws a `BadSetting`. Weights alone change every pool
 * that several spaces use, so all pools are replayed.
 */
export function variantOf(
  set: readonly string[],
  { pools, tenancy }: InForce,
  room = settingsRoom(),
): Variant {
  const ofSpaces = set.filter((text) => text.startsWith(spacePrefix));
  const names = pools.map(({ name }) => name);
  const settings = set
    .filter((text) => !text.startsWith(spacePrefix))
    .map((text) => parseSetting(text, names));
  return {
    pools: withSettings(pools, settings, room),
    ...(ofSpaces.length > 0 ? undefined : changedBy(settings)),
    inForce: pools,
    tenancy: ofSpaces.reduce(withWeight, tenancy),
  };
}

function withWeight(tenancy: Tenancy, text: string): Tenancy {
  const [, name = "", value = ""] = /^space:(.+)\.weight=(.*)$/s.exec(text) ?? [];
  const cannot = `Cannot set "${text}"`;
  const hint = "Write space:NAME.weight=2";
  if (name === "") throw new BadSetting(`${cannot}: of a space only its weight can be set`, hint);
  const weight = Number(value);
  const { weightMin, weightMax } = spaceLimits;
  if (!/^\d+(?:\.\d+)?$/.test(value) || weight < weightMin || weight > weightMax) {
    throw new BadSetting(`${cannot}: a weight is a number from ${weightMin} to ${weightMax}`, hint);
  }
  const { spaces, others } = tenancy.spaces ?? anySpace;
  const known = spaces.find((space) => space.name === name);
  if (known === undefined && others === null) {
    throw new BadSetting(`${cannot}: there is no such space`, "Fix the name");
  }
  const policy = { ...(known?.policy ?? others ?? defaultSpacePolicy), weight };
  const changed = { name: name as SpaceName, policy };
  const rest = spaces.filter((space) => space !== known);
  return { ...tenancy, spaces: { spaces: [...rest, changed], others } };
}
