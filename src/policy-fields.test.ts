/** Walks the table of a policy's fields: each can be written, read, shown, simulated and looked up. */
import { readFileSync } from "node:fs";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { policyFacts } from "../web/src/pages/policy-words.ts";
import { Policy } from "./api/policy-schema.ts";
import type { Pool } from "./api/schemas.ts";
import { parseConfig } from "./config/parse.ts";
import { formatProblem } from "./config/problem.ts";
import { configJsonSchema } from "./config/schema.ts";
import { type Field, fieldAt, isValues, type Kind, type Table } from "./core/model/fields.ts";
import type { PoolName } from "./core/model/ids.ts";
import type { PoolSpec } from "./core/model/policy.ts";
import { policyFields } from "./core/model/policy-fields.ts";
import { formatDuration } from "./core/model/time.ts";
import { testSite } from "./http/test-site.suite.ts";
import { parseSetting, withSettings } from "./insight/what-if/settings.ts";

/** One value of a policy, which is not a group. */
interface Leaf {
  readonly field: Field;
  /** In the file, such as `silence.busy.after`. */
  readonly file: readonly string[];
  readonly wire: readonly string[];
  /** In `PoolPolicy`. */
  readonly policy: readonly string[];
}

const nowhere = { file: [], wire: [], policy: [] };

function leavesOf(table: Table, above: Omit<Leaf, "field"> = nowhere): Leaf[] {
  return Object.entries(table).flatMap(([name, field]): Leaf[] => {
    const { key, wire = key, kind } = field;
    const policy = [...above.policy, name];
    const below = { file: [...above.file, key], wire: [...above.wire, wire], policy };
    if (kind.type === "inline") return leavesOf(kind.fields, { ...above, policy });
    if (kind.type === "group") return leavesOf(kind.fields, below);
    if (kind.type !== "by-state") return [{ field, ...below }];
    const busy = (path: readonly string[]) => [...path, "busy"];
    const { file, wire: words } = below;
    return leavesOf(kind.fields, { file: busy(file), wire: busy(words), policy: busy(policy) });
  });
}

const leaves = leavesOf(policyFields);
const nameOf = ({ file }: Leaf) => file.join(".");
const isOneOf = (names: readonly string[]) => (leaf: Leaf) => names.includes(nameOf(leaf));
const not = (names: readonly string[]) => (leaf: Leaf) => !isOneOf(names)(leaf);

/** Nobody can set it; its owner reads it. */
const notInTheTable = ["adaptive.used", "admission"];
/** Told beside the policy of a pool, or to whoever holds it. */
const byAmount = ["place", "strategies", "parts"];
const writable = leaves.filter(not(["adaptive.used"]));
const settable = leaves.filter(not([...notInTheTable, "parts"]));
const onWire = leaves.filter(not([...notInTheTable, ...byAmount]));

const whole = `
  members: [m]
  ttl: 6m
  lifetime: 5h
  hold: 30m
  cooldown: 20s
  lockDelay: 25s
  patience: 15m
  onRelease: dirty
  onExpire: quarantined
  silence: { busy: { after: 45m, to: cleaning } }
  dynamic: { min: 2, max: 9, state: dirty, lifespan: 12h }
  janitor: { command: [./clean], retries: 5, backoff: 2m }
  pace: { every: 24s, burst: 2, jitter: 0.25 }
  adaptive: { mode: advise, min: 0.5, max: 6, factor: 0.5, cutEvery: 1m, step: 1, raiseAfter: 2m }
  parent: above
  limit: 8
`;
const shared = `
  members: { m: { capacity: { vcpus: 8 } } }
  place: least-used
  strategies: [round-robin]
  parts: { networks: { members: { one: {} } } }
`;
const others = ["above: { limit: 50 }", "another: { limit: 60 }"];

/** A value that is neither the default nor what the files above have. */
function another(kind: Kind): unknown {
  if (kind.type === "duration") return 7 * 60_000;
  if (kind.type === "count") return 4;
  if (kind.type === "number") return kind.whole ? 4 : Math.min(4, kind.max - 0.1);
  if (kind.type === "choice") return kind.choices.find((choice) => /^(auto|pack)$/.test(choice));
  if (kind.type === "choices") return ["pack"];
  if (kind.type === "parts") return { networks: { members: { two: {} } } };
  return kind.type === "pool" ? "another" : "needs-a-look";
}

const inFile = ({ field: { kind } }: Leaf): unknown => {
  const value = another(kind);
  return kind.type === "duration" && typeof value === "number" ? formatDuration(value) : value;
};

function read(text: string): PoolSpec {
  const indented = (lines: string) => lines.replaceAll(/^(?=.)/gm, "  ");
  const config = parseConfig(
    `pools:\n${indented(`${[text, ...others].join("\n")}`)}\n`,
    "berth.yaml",
  );
  if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
  const [pool] = config.pools;
  if (pool === undefined) throw new Error("There is no pool");
  return pool;
}

const above = ["above", "another"].map((name) => ({
  ...read(`x: { limit: 50 }`),
  name: name as PoolName,
}));

const fileOf = (leaf: Leaf) => `the-pool:${isOneOf(byAmount)(leaf) ? shared : whole}`;
const original = (leaf: Leaf) => read(fileOf(leaf));

/** The same file with another value for one key. */
function withAnother(leaf: Leaf): string {
  const key = leaf.file.at(-1) ?? "";
  const place = leaf.file.length === 1 ? `^  ${key}: ` : `^  ${leaf.file[0]}: .*\\b${key}: `;
  const value = JSON.stringify(inFile(leaf));
  const old = leaf.file.length === 1 ? ".*" : "[^,} ]+";
  const text = fileOf(leaf);
  const found = new RegExp(`(?<=${place})${old}`, "m");
  expect(text).toMatch(found);
  return text.replace(found, value);
}

/** A copy with another value at one place. */
function put(values: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const below = isValues(values) ? values : {};
  return { ...below, [key]: rest.length === 0 ? value : put(below[key], rest, value) };
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (isValues(at) ? at[key] : undefined), values);
}

const changed = (leaf: Leaf) => put(original(leaf).policy, leaf.policy, another(leaf.field.kind));

const guides = ["configuration.md", "install-leases.md"]
  .map((name) => readFileSync(new URL(`../docs/guides/${name}`, import.meta.url), "utf8"))
  .join("\n");

/** Of the pool above, and of those with another value of one field each, by its name. */
async function tellPolicies(): Promise<ReadonlyMap<string, Pool["policy"]>> {
  const specs = new Map([["the-pool", read(`the-pool:${whole}`)]]);
  for (const leaf of onWire) specs.set(nameOf(leaf), read(withAnother(leaf)));
  const pools = Array.from(specs, ([name, { policy }]) => {
    return { name: name as PoolName, policy, members: [] };
  });
  await using site = await testSite([...pools, ...above]);
  const { body } = await site.call("GET /v1/pools?limit=100");
  const { items } = body as { items: Pool[] };
  return new Map(items.map(({ name, policy }) => [name, policy]));
}

const answers = await tellPolicies();

/** The schema of a key of what a schema describes, in whichever of its forms. */
function schemaBelow(schema: unknown, key: string): unknown {
  const [named, patterns] = [
    valueAt(schema, ["properties", key]),
    valueAt(schema, ["patternProperties"]),
  ];
  if (named !== undefined) return named;
  const fitting = Object.entries(isValues(patterns) ? patterns : {});
  const found = fitting.find(([pattern]) => new RegExp(pattern).test(key))?.[1];
  if (found !== undefined) return found;
  const forms = valueAt(schema, ["anyOf"]);
  const below = Array.isArray(forms) ? forms.map((form) => schemaBelow(form, key)) : [];
  return below.find((form) => form !== undefined);
}

describe("every field of a policy", () => {
  test("is in the walk", () => {
    expect(leaves.length).toBeGreaterThan(30);
    for (const leaf of writable) {
      expect(fieldAt(policyFields, leaf.file), nameOf(leaf)).toBe(leaf.field);
    }
  });

  test.each(writable.map((leaf) => [nameOf(leaf), leaf]))(
    "is in the JSON Schema: %s",
    (_, leaf) => {
      const path = ["pools", "the-pool", ...leaf.file];
      const found = path.reduce<unknown>(schemaBelow, configJsonSchema());
      expect(valueAt(found, ["description"])).toContain(leaf.field.text);
    },
  );

  test.each(leaves.filter(not(notInTheTable)).map((leaf) => [nameOf(leaf), leaf]))(
    "is read from the file, and nothing else with it: %s",
    (_, leaf) => {
      expect(changed(leaf)).not.toEqual(original(leaf).policy);
      expect(read(withAnother(leaf)).policy).toEqual(changed(leaf));
    },
  );

  test.each(settable.map((leaf) => [nameOf(leaf), leaf]))(
    "can be set by what-if, which changes nothing else: %s",
    (name, leaf) => {
      const pools = [original(leaf), ...above];
      const setting = parseSetting(`the-pool.${name}=${inFile(leaf)}`, ["the-pool"]);
      const [pool, ...rest] = withSettings(pools, [setting]);
      expect(pool).toEqual({ ...pools[0], policy: changed(leaf) });
      expect(rest).toEqual(pools.slice(1));
    },
  );

  test.each(onWire.map((leaf) => [nameOf(leaf), leaf]))("is told by the API: %s", (name, leaf) => {
    const policy = answers.get(name);
    expect(Value.Check(Policy, policy)).toBe(true);
    expect(policy).toEqual(put(answers.get("the-pool"), leaf.wire, inFile(leaf)));
  });

  test.each(onWire.map((leaf) => [nameOf(leaf), leaf]))(
    "has a label on the page: %s",
    (name, leaf) => {
      const policy = answers.get(name);
      const facts = policy === undefined ? [] : policyFacts(policy).map((fact) => fact.join(" "));
      expect(facts.join("\n").toLowerCase()).toContain(
        `${leaf.field.label} ${inFile(leaf)}`.toLowerCase(),
      );
    },
  );

  test.each(writable.map((leaf) => [nameOf(leaf), leaf]))(
    "has a row in a guide: %s",
    (_, { file, field }) => {
      const [group = "", ...below] = file;
      const block = new RegExp(
        `<!-- fields: ${below.length === 0 ? "pool" : group} -->[\\s\\S]*?<!-- end of fields -->`,
      );
      const [table = ""] = block.exec(guides) ?? [];
      const row = table.split("\n").find((line) => line.startsWith(`| \`${field.key}\` |`));
      expect(row).toContain(field.text);
    },
  );
});
