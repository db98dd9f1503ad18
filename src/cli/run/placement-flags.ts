/** How `run` and `acquire` say how much they want, and where. */
import type { Option } from "commander";
import { limits } from "../../api/limits.ts";
import type { AskBody } from "../../api/schemas.ts";
import { strategies } from "../../core/model/strategies.ts";
import { usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import * as values from "../values.ts";

type Item = AskBody["items"][number];
type Toleration = NonNullable<Item["tolerations"]>[number];

export interface PlacingFlags {
  readonly amount?: readonly PoolEntry<number>[];
  readonly selector?: readonly (readonly [string, string])[];
  readonly tolerate?: readonly Toleration[];
  readonly spread?: string;
  readonly atMost?: readonly PoolEntry<number>[];
  readonly resource?: string;
  readonly exclude?: readonly string[];
  readonly strategy?: (typeof strategies)[number];
  readonly group?: NonNullable<AskBody["group"]>;
}

interface PoolEntry<T> {
  readonly key: string;
  readonly value: T;
}

const entry: values.Parse<PoolEntry<number>> = (text) => {
  const [, key = "", value = ""] = /^([A-Za-z][A-Za-z0-9._/-]*)=(\d+)$/.exec(text) ?? [];
  if (key !== "" && Number(value) <= limits.amountMax) return { key, value: Number(value) };
  throw new values.InvalidValue("it is not KEY=NUMBER", "Write it like vcpus=24");
};

/** `dedicated=gpu:NoSchedule`, or any part of it; `*` tolerates everything. */
const toleration: values.Parse<Toleration> = (text) => {
  if (text === "*") return { operator: "Exists" };
  const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?(?::(\w+))?$/.exec(text) ?? [];
  const known = (["NoSchedule", "PreferNoSchedule"] as const).find((name) => name === effect);
  if (key === undefined || (effect !== undefined && known === undefined)) {
    const hint = "Write it like dedicated=gpu:NoSchedule, dedicated=gpu or dedicated";
    throw new values.InvalidValue("it is not KEY[=VALUE][:EFFECT]", hint);
  }
  return {
    key,
    ...(value === undefined ? { operator: "Exists" as const } : { value }),
    ...(known === undefined ? undefined : { effect: known }),
  };
};

const group: values.Parse<NonNullable<AskBody["group"]>> = (text) => {
  const { pool: name, count: size } = values.poolCount(text);
  return { name, size };
};

export function placingOptions(): Option[] {
  const strategy = values.oneOf(...strategies);
  return [
    repeatedFlag("--amount <key=n>", "so much of each resource: vcpus=24", entry),
    repeatedFlag("--selector <key=value>", "only resources with this label", values.label),
    repeatedFlag("--tolerate <taint>", "a taint that does not matter, or *", toleration),
    flag("--spread <label>", "each resource with another value of this label"),
    repeatedFlag("--at-most <label=n>", "over so many values of a label at the most", entry),
    flag("--resource <name>", "this very one"),
    repeatedFlag("--exclude <name>", "not this one", (text) => text),
    flag("--strategy <name>", "how to choose, where the pool allows it", strategy),
    flag("--group <name[:n]>", "granted together with the other n - 1 of this group", group),
  ];
}

/** They are said of the one pool that is named. */
export function placed(items: readonly Item[], flags: PlacingFlags): Item[] {
  const fields = fieldsOf(flags);
  const [first, ...others] = items;
  if (first === undefined || Object.keys(fields).length === 0) return [...items];
  if (others.length > 0) {
    throw usageError(
      `Cannot tell which pool is meant by ${Object.keys(fields).join(" and ")}: several are named`,
      "Name one pool, or send the request with POST /v1/leases",
    );
  }
  return [{ ...first, ...fields }];
}

function fieldsOf(flags: PlacingFlags): Partial<Item> {
  const { amount, selector, tolerate, spread, atMost, resource, exclude, strategy } = flags;
  const record = (entries: readonly PoolEntry<number>[]) =>
    Object.fromEntries(entries.map(({ key, value }) => [key, value]));
  return {
    ...(amount === undefined ? undefined : { amount: record(amount) }),
    ...(selector === undefined ? undefined : { selector: Object.fromEntries(selector) }),
    ...(tolerate === undefined ? undefined : { tolerations: [...tolerate] }),
    ...(spread === undefined ? undefined : { spread }),
    ...(atMost === undefined ? undefined : { atMost: record(atMost) }),
    ...(resource === undefined ? undefined : { resource }),
    ...(exclude === undefined ? undefined : { exclude: [...exclude] }),
    ...(strategy === undefined ? undefined : { strategy }),
  };
}
