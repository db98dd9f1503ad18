import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Problem } from "../api/problem.ts";
import { failureOf } from "../cli/failure.ts";
import type { ClaimId, PoolName, RequestId, ResourceName, SpaceName } from "../core/model/ids.ts";
import type { Refusal, RefusalCode } from "../core/model/outcome.ts";
import type { Instant } from "../core/model/time.ts";
import { problemOf } from "./problems.ts";
import { validationProblem } from "./validation.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** The rows of the tables that have a status: code, status. */
const documented = new Map(
  [...read("docs/errors.md").matchAll(/^\| `([a-z_]+)` +\| (\d{3}|any) +\|/gm)].map(
    ([, code = "", status = ""]) => [code, status],
  ),
);

/** Every code that the sources can produce, by the two ways in which they write one. */
function codesInSources(): Set<string> {
  const folders = [
    "src/http/*.ts",
    "src/http/clusters/*.ts",
    "src/http/relay/*.ts",
    "src/auth/**/*.ts",
    "src/api/problem.ts",
  ];
  const files = globSync([...folders, "src/core/model/outcome.ts"], {
    cwd: root,
  }).filter((file) => !/\.(test|suite)\.ts$/.test(file));
  const text = files.map((file) => read(file)).join("\n");
  const found = text.matchAll(/\bcode: "([a-z_]+)"|\b(?:no|tooMany)\(\s*"([a-z_]+)"/g);
  return new Set([...found].map(([, first, second]) => first ?? second ?? ""));
}

const id = "r1" as RequestId;
const at = 0 as Instant;

/** One of each: a refusal without words does not compile, and one without a row here neither. */
const refusals: { readonly [Code in RefusalCode]: Extract<Refusal, { code: Code }> } = {
  request_granted: { code: "request_granted", id },
  priority_unknown: { code: "priority_unknown", name: "urgnt", nearest: "urgent", known: [] },
  pool_not_found: { code: "pool_not_found", pool: "aws" as PoolName, known: [] },
  amount_too_large: {
    code: "amount_too_large",
    pool: "p" as PoolName,
    dimension: "vcpus",
    asked: 500,
    largest: 120,
  },
  too_few_eligible: {
    code: "too_few_eligible",
    pool: "p" as PoolName,
    asked: 4,
    possible: 3,
    large: 3,
    eligible: 4,
    total: 5,
    unfit: { taint: 1 },
  },
  never_fits_together: { code: "never_fits_together", pool: "p" as PoolName, items: 2 },
  strategy_not_allowed: {
    code: "strategy_not_allowed",
    pool: "p" as PoolName,
    strategy: "pack",
    known: ["least-used"],
  },
  lent_whole: { code: "lent_whole", pool: "p" as PoolName, key: "amount" },
  lent_by_amount: { code: "lent_by_amount", pool: "p" as PoolName },
  amount_missing: { code: "amount_missing", pool: "p" as PoolName, known: ["vcpus"] },
  dimension_unknown: {
    code: "dimension_unknown",
    pool: "p" as PoolName,
    dimension: "cpus",
    nearest: "vcpus",
    known: ["vcpus"],
  },
  quota_too_small: {
    code: "quota_too_small",
    space: "team" as SpaceName,
    pool: "aws" as PoolName,
    asked: 3,
    max: 2,
  },
  space_unknown: { code: "space_unknown", space: "team" as SpaceName },
  pool_not_allowed: {
    code: "pool_not_allowed",
    space: "team" as SpaceName,
    pool: "aws" as PoolName,
  },
  too_many_priorities: {
    code: "too_many_priorities",
    space: "team" as SpaceName,
    pool: "aws" as PoolName,
    max: 64,
  },
  too_many_waiting: { code: "too_many_waiting", space: "team" as SpaceName, max: 2 },
  not_a_cluster: { code: "not_a_cluster", resource: "aws-1" as ResourceName },
  lent_by_parameters: { code: "lent_by_parameters", pool: "ocp" as PoolName, key: "selector" },
  parameters_not_allowed: { code: "parameters_not_allowed", pool: "aws" as PoolName },
  cluster_state: {
    code: "cluster_state",
    resource: "ocp-1" as ResourceName,
    action: "hold",
    state: "destroying",
  },
  cluster_exists: { code: "cluster_exists", resource: "ocp-1" as ResourceName },
  cluster_limit: { code: "cluster_limit", pool: "ocp" as PoolName, used: 8, limit: 8 },
  cluster_surplus: { code: "cluster_surplus", pool: "ocp" as PoolName, size: 3 },
  version_unsupported: {
    ...{ code: "version_unsupported", pool: "ocp" as PoolName, version: "4.12" },
    ...{ known: ["4.19", "4.20"], nearest: "4.19" },
  },
  hub_not_found: { code: "hub_not_found", hub: "hub-eats", nearest: "hub-east" },
  hub_configured: { code: "hub_configured", hub: "hub-east", state: "cordoned" },
  handle_too_long: { code: "handle_too_long", resource: "ocp-1" as ResourceName, max: 9 },
  never_fits: { code: "never_fits", pool: "aws" as PoolName, asked: 3, size: 2 },
  request_id_reused: { code: "request_id_reused", key: "k", id },
  group_full: { code: "group_full", group: "g", size: 2 },
  group_size_differs: { code: "group_size_differs", group: "g", size: 2, asked: 3 },
  request_not_found: { code: "request_not_found", id },
  request_ended: { code: "request_ended", id, how: "abandoned", endedAt: at },
  lease_not_found: { code: "lease_not_found", id },
  lease_not_granted: { code: "lease_not_granted", id },
  lease_ended: { code: "lease_ended", id, how: "expired", endedAt: at },
  pool_not_in_lease: { code: "pool_not_in_lease", id, pool: "aws" as PoolName },
  claim_not_found: { code: "claim_not_found", id, claim: "1" as ClaimId },
  resource_not_found: { code: "resource_not_found", resource: "aws-1" as ResourceName },
  resource_held: { code: "resource_held", resource: "aws-1" as ResourceName, holder: "ann" },
  none_free: { code: "none_free", pool: "aws" as PoolName },
  not_all_free: { code: "not_all_free", resources: ["aws-1" as ResourceName], state: "free" },
  not_its_holder: {
    code: "not_its_holder",
    resource: "aws-1" as ResourceName,
    by: "ann",
    holder: "",
    needsToken: false,
  },
  state_differs: {
    code: "state_differs",
    resource: "aws-1" as ResourceName,
    state: "busy",
    claimed: "free",
  },
  state_reserved: { code: "state_reserved", state: "busy" },
  state_not_allowed: {
    code: "state_not_allowed",
    pool: "aws" as PoolName,
    state: "used",
    allowed: ["free", "dirty"],
  },
  too_many_entries: {
    code: "too_many_entries",
    resource: "aws-1" as ResourceName,
    what: "labels",
    max: 64,
  },
  user_data_refused: {
    code: "user_data_refused",
    resource: "aws-1" as ResourceName,
    fault: { why: "value_has_nul", key: "password" },
  },
};

describe("docs/errors.md", () => {
  test("has every code that the sources can produce, and no other", () => {
    expect([...documented.keys()].sort()).toEqual([...codesInSources()].sort());
  });

  test.each(Object.values(refusals))("has the status of $code", (refusal) => {
    expect(documented.get(refusal.code)).toBe(String(problemOf(refusal).status));
  });

  test("has every way in which a request or lease ends, and every reason to wait", () => {
    const text = read("docs/errors.md");
    const ends = read("src/http/problems.ts").match(/howEnded.* = \{([^}]*)\}/)?.[1] ?? "";
    const reasons = read("src/core/model/event.ts").match(/type WaitCode.*?;\n\n/s)?.[0] ?? "";
    const names = [...ends.matchAll(/^ {2}(\w+):/gm), ...reasons.matchAll(/"(\w+)"/g)];
    expect(names.length).toBeGreaterThan(12);
    expect(reasons).toContain('"limit_reached"');
    for (const [, name] of names) {
      const hint = `add a row for ${name} to docs/errors.md`;
      expect(text, hint).toMatch(new RegExp(`^\\| ${name} +\\|`, "m"));
    }
  });
});

describe("problemOf()", () => {
  test.each(Object.values(refusals))("says what is wrong and what to do: $code", (refusal) => {
    const { code, message, hint, status } = problemOf(refusal);
    expect(code).toBe(refusal.code);
    expect(message).toMatch(/^Cannot .*[^.]$/);
    expect(hint).toMatch(/^[A-Z].*[^.]$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  test.each(Object.values(refusals))(
    "is told on the command line without calls: $code",
    (refusal) => {
      const problem = Problem.from(404, JSON.parse(JSON.stringify(problemOf(refusal))));
      const { hint = "" } = failureOf(problem) ?? {};
      expect(hint).toMatch(/^[A-Z].*[^.]$/);
      expect(hint).not.toMatch(/\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/v1|requestId/);
    },
  );

  test("is told on the command line without the server's pages", () => {
    const tooLong = { keyword: "maxLength", instancePath: "/holder", schemaPath: "", params: {} };
    const problem = validationProblem([tooLong], "body");
    expect(problem.hint).toBe("See /docs for what is accepted");
    expect(failureOf(problem)?.hint).toBe("See --help of the command for what is accepted");
  });

  test.each([
    ["aws-1", 'Did you mean "aws-1"?', 'Did you mean "aws-1"?'],
    [undefined, "See them with GET /v1/resources", "List them: berth resources"],
  ])("helps with a resource whose name is nearest to %j", (nearest, hint, typed) => {
    const problem = problemOf({
      code: "resource_not_found",
      resource: "asw-1" as ResourceName,
      ...(nearest === undefined ? {} : { nearest: nearest as ResourceName }),
    });
    expect(problem).toMatchObject({ message: 'Cannot find resource "asw-1"', hint });
    expect(problem.facts).toEqual({ resource: "asw-1", ...(nearest && { nearest }) });
    expect(failureOf(problem)).toMatchObject({ message: problem.message, hint: typed });
  });

  test.each([
    [[], undefined, "The configuration has no pool"],
    [["aws", "gcp"], undefined, "Use aws, gcp"],
    [["aws", "gcp"], "aws", 'Did you mean "aws"?'],
  ])("helps with a name among %j that is nearest to %j", (known, nearest, hint) => {
    const problem = problemOf({
      code: "pool_not_found",
      pool: "asw" as PoolName,
      known: known as PoolName[],
      ...(nearest === undefined ? {} : { nearest: nearest as PoolName }),
    });
    expect(problem.hint).toBe(hint);
  });

  test("tells how and when something ended", () => {
    const { message, facts } = problemOf(refusals.lease_ended);
    expect(message).toBe(
      "Cannot go on with lease r1: no heartbeat came within its ttl at 1970-01-01T00:00:00.000Z",
    );
    expect(facts).toEqual({ how: "expired", endedAt: "1970-01-01T00:00:00.000Z" });
  });
});
