import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { holderFrom, refuseLongName, slotSetOf } from "./flags.ts";
import { slots } from "./slots.ts";

const guide = await readFile(
  new URL("../../../docs/guides/kubernetes-slots.md", import.meta.url),
  "utf8",
);
const commands = Object.entries(slots.subcommands ?? {});

test.each(commands.map(([name]) => name))("the guide explains berth slots %s", (name) => {
  expect(guide).toMatch(new RegExp(`^\\| \`berth slots ${name}[\` ]`, "m"));
});

test("the guide names only existing options and variables", () => {
  const options = commands.flatMap(([, { command }]) => command.options ?? []);
  const flags = new Set(options.map(({ long }) => long));
  const variables = options.flatMap(
    ({ description }) => description.match(/(?<=\$)[A-Z_]+/g) ?? [],
  );
  const table = guide
    .split("\n")
    .filter((line) => /^\| `[A-Z_]+`/.test(line))
    .join("\n");
  const named = table.match(/`[A-Z_]{5,}`/g) ?? [];
  expect(named.length).toBeGreaterThan(12);
  for (const name of named) expect(variables).toContain(name.slice(1, -1));
  const used = [...guide.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag);
  expect(used.length).toBeGreaterThan(15);
  for (const flag of used) expect([...flags]).toContain(flag);
});

test("holderFrom() treats commands of one shell as one run", () => {
  const { suffix, runId } = holderFrom({}, 4711);
  expect(suffix).toBe("unknown");
  expect(runId).toMatch(/^local-[A-Za-z0-9.-]+-4711$/);
  expect(holderFrom({ suffix: "pr1", runId: "7" })).toEqual({ suffix: "pr1", runId: "7" });
});

test.each([
  ["nothing is set", {}, {}, ["clusters", "berth-slot"]],
  [
    "the scripts' variables are set",
    { NAMESPACE: "ours", LEASE_PREFIX: "ci-slot" },
    {},
    ["ours", "ci-slot"],
  ],
  [
    "Berth's variables are set too",
    { NAMESPACE: "ours", LEASE_PREFIX: "ci-slot", SLOT_NAMESPACE: "own", SLOT_PREFIX: "own-slot" },
    {},
    ["own", "own-slot"],
  ],
  [
    "flags are given",
    { SLOT_NAMESPACE: "own", SLOT_PREFIX: "own-slot" },
    { namespace: "flag", prefix: "flag-slot" },
    ["flag", "flag-slot"],
  ],
] as const)("slotSetOf() chooses namespace and prefix if %s", (_, variables, flags, expected) => {
  const { env } = process;
  process.env = { ...env, ...unset, ...variables };
  try {
    const { namespace, prefix } = slotSetOf(flags);
    expect([namespace, prefix]).toEqual(expected);
  } finally {
    process.env = env;
  }
});

/** An empty variable counts as unset. */
const unset = { NAMESPACE: "", LEASE_PREFIX: "", SLOT_NAMESPACE: "", SLOT_PREFIX: "" };

test("refuseLongName() throws if the cluster's name is too long for the cloud", () => {
  process.env["MANAGED_BY_TAG"] = "rossoctl-hypershift-ci";
  try {
    expect(() => refuseLongName({ suffix: "pr1234567", runId: "1" })).not.toThrow();
    expect(() => refuseLongName({ suffix: "pr12345678", runId: "1" })).toThrow(
      "have 33 characters",
    );
  } finally {
    delete process.env["MANAGED_BY_TAG"];
  }
});
