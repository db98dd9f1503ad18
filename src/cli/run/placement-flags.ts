/** The flags of `run` and `acquire` that say how much of a shared resource, and which resource. */
import type { Option } from "commander";
import { limits } from "../../api/limits.ts";
import type { AskBody } from "../../api/schemas.ts";
import { strategies } from "../../core/model/strategies.ts";
import { usageError } from "../failure.ts";
import { onceFlag, repeatedFlag } from "../flags.ts";
import * as values from "../values.ts";

type Item = AskBody["items"][number];
type Toleration = NonNullable<Item["tolerations"]>[number];

/** The flags that apply to one pool of the request. */
interface ItemFlags {
  readonly amount?: readonly KeyNumber[];
  readonly selector?: readonly (readonly [string, string])[];
  readonly tolerate?: readonly Toleration[];
  readonly spread?: string;
  readonly atMost?: readonly KeyNumber[];
  readonly resource?: string;
  readonly exclude?: readonly string[];
  readonly strategy?: (typeof strategies)[number];
  readonly parameter?: readonly (readonly [string, string | number | boolean])[];
  readonly credentials?: string;
}

export interface PlacementFlags extends ItemFlags {
  readonly group?: NonNullable<AskBody["group"]>;
}

interface KeyNumber {
  readonly key: string;
  readonly value: number;
}

const parseKeyNumber: values.Parse<KeyNumber> = (text) => {
  const [, key = "", value = ""] = /^([A-Za-z][A-Za-z0-9._/-]*)=(\d+)$/.exec(text) ?? [];
  if (key === "" || Number(value) > limits.amountMax) {
    throw new values.InvalidValue("it is not KEY=NUMBER", "Write it like vcpus=24");
  }
  if (Number(value) > 0) return { key, value: Number(value) };
  throw new values.InvalidValue("its number is 0", "Use 1 or more, or remove it");
};

/** Accepts `dedicated=gpu:NoSchedule`, or any part of it. `*` tolerates every taint. */
const parseToleration: values.Parse<Toleration> = (text) => {
  if (text === "*") return { operator: "Exists" };
  const { key, value, effect } =
    /^(?<key>[^=:]+)(?:=(?<value>[^:]*))?(?::(?<effect>\w+))?$/.exec(text)?.groups ?? {};
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

const parseGroup: values.Parse<NonNullable<AskBody["group"]>> = (text) => {
  const { pool: name, count: size } = values.poolCount(text);
  return { name, size };
};

/** `workers=3` is a number and `fips=true` a boolean; quotes make a text of either. */
export const parseParameter: values.Parse<readonly [string, string | number | boolean]> = (
  text,
) => {
  const [, name = "", value = ""] = /^([A-Za-z][A-Za-z0-9._/-]*)=(.*)$/s.exec(text) ?? [];
  if (name === "") {
    throw new values.InvalidValue("it is not NAME=VALUE", "Write it like version=4.20");
  }
  return [name, parameterValue(value)];
};

function parameterValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  // A version such as 4.20 is a text: as a number it would become 4.2.
  if (/^-?(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  return /^"(.*)"$/s.exec(text)?.[1] ?? text;
}

export function placementOptions(): Option[] {
  const strategy = values.oneOf(...strategies);
  return [
    repeatedFlag("--amount <key=n>", "amount of each resource, such as vcpus=24", parseKeyNumber),
    repeatedFlag("--selector <key=value>", "only resources with this label", values.label),
    repeatedFlag(
      "--tolerate <taint>",
      "accept resources with this taint; * for any",
      parseToleration,
    ),
    onceFlag("--spread <label>", "use resources with different values of this label"),
    repeatedFlag(
      "--at-most <label=n>",
      "use at most n different values of this label",
      parseKeyNumber,
    ),
    onceFlag("--resource <name>", "only this resource"),
    repeatedFlag("--exclude <name>", "never this resource; for shared pools only", (text) => text),
    onceFlag("--strategy <name>", "how to choose a resource, if the pool allows it", strategy),
    repeatedFlag(
      "--parameter <name=value>",
      "of the cluster, such as version=4.20; list them: berth templates",
      parseParameter,
    ),
    onceFlag("--credentials <name>", "make the cluster with these credentials of your space"),
    onceFlag(
      "--group <name[:n]>",
      "grant together with the other n - 1 requests of this group",
      parseGroup,
    ),
  ];
}

/** Adds the placement flags to the request's only item. Throws if the request has several items. */
export function withPlacement(items: readonly Item[], flags: PlacementFlags): Item[] {
  const typed = typedFlags(flags);
  const [first, ...others] = items;
  if (first === undefined || typed.length === 0) return [...items];
  if (others.length > 0) {
    throw usageError(
      `Cannot use ${typed.join(" and ")}: the request has several pools`,
      "Request one pool, or send the request with POST /v1/leases",
    );
  }
  return [{ ...first, ...itemFields(flags) }];
}

/** Each flag as the user types it, for error messages. */
const flagNames = [
  ["amount", "--amount"],
  ["selector", "--selector"],
  ["tolerate", "--tolerate"],
  ["spread", "--spread"],
  ["atMost", "--at-most"],
  ["resource", "--resource"],
  ["exclude", "--exclude"],
  ["strategy", "--strategy"],
  ["parameter", "--parameter"],
  ["credentials", "--credentials"],
] as const satisfies readonly (readonly [keyof ItemFlags, string])[];

function typedFlags(flags: PlacementFlags): string[] {
  return flagNames.filter(([key]) => flags[key] !== undefined).map(([, name]) => name);
}

function itemFields(flags: ItemFlags): Partial<Item> {
  const { amount, selector, tolerate, spread, atMost, resource, exclude, strategy } = flags;
  const { parameter, credentials } = flags;
  const record = (pairs: readonly KeyNumber[]) =>
    Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
  return {
    ...(amount === undefined ? undefined : { amount: record(amount) }),
    ...(selector === undefined ? undefined : { selector: Object.fromEntries(selector) }),
    ...(tolerate === undefined ? undefined : { tolerations: [...tolerate] }),
    ...(spread === undefined ? undefined : { spread }),
    ...(atMost === undefined ? undefined : { atMost: record(atMost) }),
    ...(resource === undefined ? undefined : { resource }),
    ...(exclude === undefined ? undefined : { exclude: [...exclude] }),
    ...(strategy === undefined ? undefined : { strategy }),
    ...(parameter === undefined ? undefined : { parameters: Object.fromEntries(parameter) }),
    ...(credentials === undefined ? undefined : { credentials }),
  };
}
