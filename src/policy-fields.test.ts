/**
 * Walks the table of a policy's fields: each can be written, read, shown, simulated and looked up. A
 * new field needs no change here, a new kind of field needs two values in `valuesFor`.
 */
import { readFileSync } from "node:fs";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { policyFacts } from "../web/src/pages/policy-words.ts";
import { Policy } from "./api/policy-schema.ts";
import type { Pool } from "./api/schemas.ts";
import { formatProblem } from "./config/document.ts";
import { parseConfig } from "./config/parse.ts";
import { ConfigFile, configJsonSchema } from "./config/schema.ts";
import {
  type Field,
  fieldAt,
  inWords,
  isRequired,
  isValues,
  type Table,
} from "./core/model/fields.ts";
import type { PoolName } from "./core/model/ids.ts";
import type { PoolSpec } from "./core/model/policy.ts";
import { policyFields } from "./core/model/policy-fields.ts";
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
  /** It belongs to a group whose keys stand beside it: such pools are lent by amount. */
  readonly isInline: boolean;
}

const top = { file: [], wire: [], policy: [], isInline: false };

function leavesOf(table: Table, above: Omit<Leaf, "field"> = top): Leaf[] {
  return Object.entries(table).flatMap(([name, field]): Leaf[] => {
    const { key, wire = key, kind } = field;
    const policy = [...above.policy, name];
    const below = { ...above, file: [...above.file, key], wire: [...above.wire, wire], policy };
    if (kind.type === "inline") return leavesOf(kind.fields, { ...above, policy, isInline: true });
    if (kind.type === "group") return leavesOf(kind.fields, below);
    if (kind.type !== "by-state") return [{ field, ...below }];
    const busy = (path: readonly string[]) => [...path, "busy"];
    const { file, wire: words } = below;
    const paths = { file: busy(file), wire: busy(words), policy: busy(policy) };
    return leavesOf(kind.fields, { ...below, ...paths });
  });
}

const leaves = leavesOf(policyFields);
const nameOf = ({ file }: Leaf) => file.join(".");
const isHidden = ({ field: { kind } }: Leaf) => kind.type === "fixed" || kind.type === "outside";

const writable = leaves.filter(({ field: { kind } }) => kind.type !== "fixed");
const readable = leaves.filter((leaf) => !isHidden(leaf));
/** What-if says that only a file can describe parts. */
const settable = readable.filter(({ field: { kind } }) => kind.type !== "parts");
/** The API answers the others beside the policy, or to their holder. */
const onWire = readable.filter(({ isInline }) => !isInline);
const required = readable.filter(({ field }) => isRequired(field));

/** Two values that fit the bounds of a field, and the rules between fields as well. */
function valuesFor({ key, kind }: Field): readonly [inTheFile: unknown, another: unknown] {
  switch (kind.type) {
    case "duration":
      return [6 * 60_000, 7 * 60_000];
    case "count":
    case "number": {
      const isWhole = kind.type === "count" || kind.whole === true;
      // A max must be above the min beside it.
      const first = isWhole ? 2 : 0.5;
      return [key === "max" ? 6 : first, isWhole ? 4 : Math.min(4, kind.max - 0.1)];
    }
    case "choice":
      return [kind.choices[1], kind.choices[0]];
    case "choices":
      return [kind.choices.slice(-1), kind.choices.slice(-2, -1)];
    case "flag":
      return [true, false];
    case "states":
      return [
        ["free", "dirty", "needs-a-look"],
        ["needs-a-look", "dirty", "free"],
      ];
    case "state":
      return ["dirty", "needs-a-look"];
    case "pool":
      return ["above", "another"];
    case "parts":
      return [{ networks: { members: { one: {} } } }, { networks: { members: { two: {} } } }];
    case "group":
    case "by-state":
    case "inline":
    case "fixed":
    case "outside":
      throw new Error(`Cannot make a value for ${key}: it is not a single value`);
  }
}

const another = ({ field }: Leaf) => valuesFor(field)[1];
const inFile = (leaf: Leaf) => asWritten(leaf, another(leaf));

/** The file has the words of the wire. */
function asWritten({ field }: Leaf, value: unknown): unknown {
  return Object.values(inWords({ field }, { field: value }))[0];
}

/** A pool as the file has it, with every field that such a pool can have. */
function poolWith(fields: readonly Leaf[], base: unknown): unknown {
  return fields.reduce((pool, leaf) => {
    return put(pool, leaf.file, asWritten(leaf, valuesFor(leaf.field)[0]));
  }, base);
}

const whole = poolWith(onWire, { members: ["m"], janitor: { command: ["./clean"] } });
const shared = poolWith(
  readable.filter(({ isInline }) => isInline),
  { members: { m: { capacity: { vcpus: 8 } } } },
);

/** A file is a pool and the two that it may have as its parent. JSON is YAML as well. */
function fileWith(pool: unknown): string {
  const others = `  above: { limit: 50 }\n  another: { limit: 60 }\n`;
  return `pools:\n  the-pool: ${JSON.stringify(pool)}\n${others}`;
}

function read(pool: unknown): PoolSpec {
  const config = parseConfig(fileWith(pool), "berth.yaml");
  if (!config.ok) {
    const problems = config.problems.map(formatProblem).join("\n");
    const hint = "if a new field breaks a rule, choose other values in valuesFor() of this test";
    throw new Error(`${problems}\n${hint}`);
  }
  const [found] = config.pools;
  if (found === undefined) throw new Error("There is no pool");
  return found;
}

const above = ["above", "another"].map((name) => ({
  ...read({ limit: 50 }),
  name: name as PoolName,
}));

const poolOf = ({ isInline }: Leaf) => (isInline ? shared : whole);
const original = (leaf: Leaf) => read(poolOf(leaf));
/** The same pool with another value for one key. */
const withAnother = (leaf: Leaf) => read(put(poolOf(leaf), leaf.file, inFile(leaf)));

/** A copy with another value at one place. */
function put(values: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const below = isValues(values) ? values : {};
  return { ...below, [key]: rest.length === 0 ? value : put(below[key], rest, value) };
}

function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce((at, key) => (isValues(at) ? at[key] : undefined), values);
}

const changed = (leaf: Leaf) => put(original(leaf).policy, leaf.policy, another(leaf));

/** What to do where a field is forgotten. */
const todo = (leaf: Leaf, state: string, hint: string) =>
  `Field ${nameOf(leaf)} of the policy table ${state}: ${hint}`;

const cases = (of: readonly Leaf[]) => of.map((leaf): [string, Leaf] => [nameOf(leaf), leaf]);

const guides = ["configuration.md", "install-leases.md"]
  .map((name) => readFileSync(new URL(`../docs/guides/${name}`, import.meta.url), "utf8"))
  .join("\n");

/** Of the pool above, and of those with another value of one field each, by its name. */
async function askForPolicies(): Promise<ReadonlyMap<string, Pool["policy"]>> {
  const specs = new Map([["the-pool", read(whole)]]);
  for (const leaf of onWire) specs.set(nameOf(leaf), withAnother(leaf));
  const pools = Array.from(specs, ([name, { policy }]) => {
    return { name: name as PoolName, policy, members: [] };
  });
  await using site = await testSite([...pools, ...above]);
  const { body } = await site.call("GET /v1/pools?limit=100");
  const { items } = body as { items: Pool[] };
  return new Map(items.map(({ name, policy }) => [name, policy]));
}

const answers = await askForPolicies();

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
    expect(required.length).toBeGreaterThan(3);
    for (const leaf of writable) {
      const hint = "give it a key that no other row of its group has";
      const message = todo(leaf, "cannot be found by its key", hint);
      expect(fieldAt(policyFields, leaf.file), message).toBe(leaf.field);
    }
  });

  test.each(cases(writable))("is in the JSON Schema: %s", (_, leaf) => {
    const path = ["pools", "the-pool", ...leaf.file];
    const found = path.reduce<unknown>(schemaBelow, configJsonSchema());
    const hint = "return a schema with its text from schemaOf() in src/config/field-schemas.ts";
    const message = todo(leaf, "is not in the JSON Schema", hint);
    expect(valueAt(found, ["description"]), message).toContain(leaf.field.text);
  });

  test.each(cases(readable))("is read from the file, and nothing else with it: %s", (_, leaf) => {
    expect(changed(leaf)).not.toEqual(original(leaf).policy);
    const hint = "see readValue() in src/config/read-fields.ts";
    const message = todo(leaf, "is not read from the file", hint);
    expect(withAnother(leaf).policy, message).toEqual(changed(leaf));
  });

  test.each(cases(required))("is refused where it is missing: %s", (_, leaf) => {
    const text = fileWith(put(poolOf(leaf), leaf.file, undefined));
    const config = parseConfig(text, "berth.yaml");
    const [key, add] = [leaf.file.at(-1), `add ${leaf.file.at(-1)}: ${leaf.field.examples?.[0]}`];
    const refused = (path: readonly string[], what: string) =>
      `berth.yaml:2:${columnOf(text, path)}: Cannot read pools.the-pool.${path.join(".")}: ${what}`;
    const want = leaf.isInline
      ? refused(["strategies"], `it needs ${key} as well (${add}, or remove it)`)
      : refused(leaf.file.slice(0, -1), `${key} is missing (${add})`);
    const message = todo(leaf, "may be missing", "see src/config/missing-fields.ts");
    expect(config.ok ? [] : config.problems.map(formatProblem), message).toContain(want);
  });

  test.each(cases(required))("is required by the JSON Schema: %s", (_, leaf) => {
    const check = (pool: unknown) => Value.Check(ConfigFile, { pools: { "the-pool": pool } });
    const message = todo(leaf, "is not required by the schema", "see src/config/field-schemas.ts");
    expect(check(poolOf(leaf))).toBe(true);
    expect(
      check(JSON.parse(JSON.stringify(put(poolOf(leaf), leaf.file, undefined)))),
      message,
    ).toBe(false);
  });

  test.each(cases(settable))(
    "can be set by what-if, which changes nothing else: %s",
    (name, leaf) => {
      const pools = [original(leaf), ...above];
      const setting = parseSetting(`the-pool.${name}=${inFile(leaf)}`, ["the-pool"]);
      const [pool, ...rest] = withSettings(pools, [setting]);
      const hint = "see valueFrom() in src/insight/what-if/settings.ts";
      const message = todo(leaf, "cannot be set by what-if", hint);
      expect(pool, message).toEqual({ ...pools[0], policy: changed(leaf) });
      expect(rest).toEqual(pools.slice(1));
    },
  );

  test.each(cases(onWire))("is in the API's answer: %s", (name, leaf) => {
    const policy = answers.get(name);
    const schema = "see valueSchema() in src/api/policy-schema.ts";
    const words = "see valueInWords() in src/core/model/fields.ts";
    expect(Value.Check(Policy, policy), todo(leaf, "does not fit its schema", schema)).toBe(true);
    expect(policy, todo(leaf, "is not in the API's answer", words)).toEqual(
      put(answers.get("the-pool"), leaf.wire, inFile(leaf)),
    );
  });

  test.each(cases(onWire))("has a label on the page: %s", (name, leaf) => {
    const policy = answers.get(name);
    const facts = policy === undefined ? [] : policyFacts({ policy }).map((fact) => fact.join(" "));
    const hint = "see web/src/pages/policy-words.ts";
    expect(facts.join("\n").toLowerCase(), todo(leaf, "is not on the page", hint)).toContain(
      `${leaf.field.label} ${[inFile(leaf)].flat().join(", ")}`.toLowerCase(),
    );
  });

  test.each(cases(writable))("has a row in a guide: %s", (_, leaf) => {
    const { file, field } = leaf;
    const [group = "", ...below] = file;
    const marker = `<!-- fields: ${below.length === 0 ? "pool" : group} -->`;
    const block = new RegExp(`${marker}[\\s\\S]*?<!-- end of fields -->`);
    const [table = ""] = block.exec(guides) ?? [];
    const row = table.split("\n").find((line) => line.startsWith(`| \`${field.key}\` |`));
    const lines = `write the lines "${marker}" and "<!-- end of fields -->" into`;
    const hint = `${lines} docs/guides/configuration.md, if they are not there; then npm run generate`;
    expect(row ?? "", todo(leaf, "has no row in a guide", hint)).toContain(field.text);
  });
});

/** Where the key of a pool stands in its line, from 1. */
function columnOf(text: string, path: readonly string[]): number {
  const line = text.split("\n")[1] ?? "";
  return 1 + path.reduce((at, key) => line.indexOf(`"${key}":`, at), 0);
}
