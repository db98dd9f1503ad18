import { describe, expect, test } from "vitest";
import type { Profile } from "../../api/schemas.ts";
import { aLease } from "../../client/scripted-server.suite.ts";
import { parseNamedLease, planRequest, planVariables } from "./job-plan.ts";
import { leasedValue } from "./leased-value.ts";

test.each([
  ["us-east-1--aws-quota-slice-0", "us-east-1"],
  ["aws--us-east-1--quota-slice-0", "us-east-1"],
  ["a--b--c--d", "b"],
  ["whatever--01", "whatever"],
  ["1c9f4d1e-6f6c-4a5e-9d2c-2f1f6f3a7c11", "1c9f4d1e-6f6c-4a5e-9d2c-2f1f6f3a7c11"],
  ["plain", "plain"],
])("leasedValue(%s) is %s", (resource, value) => {
  expect(leasedValue(resource)).toBe(value);
});

function granted(...names: readonly [pool: string, resource: string][]) {
  const claims = names.map(([pool, resource], index) => {
    return { id: String(index + 1), pool, resource, fence: index, heldUntil: null, labels: {} };
  });
  return { ...aLease({ claims }), token: "t" };
}

const aws: Profile = { name: "aws", type: "aws", pool: "aws-slice" };
const set: Profile = { name: "aws-set", type: "aws", pool: "set-slice", members: ["aws", "aws-2"] };

describe("planVariables()", () => {
  test("sets the profile's region, name and type", () => {
    const lease = granted(["aws-slice", "us-east-1--aws-quota-slice-0"]);
    expect(planVariables({ profile: aws, namedLeases: [] }, lease)).toEqual({
      LEASED_RESOURCE: "us-east-1",
      CLUSTER_PROFILE_NAME: "aws",
      CLUSTER_TYPE: "aws",
    });
  });

  test("names the granted member of a profile set", () => {
    const lease = granted(["set-slice", "aws-2--us-west-1--quota-slice-3"]);
    expect(planVariables({ profile: set, namedLeases: [] }, lease)).toEqual({
      LEASED_RESOURCE: "us-west-1",
      CLUSTER_PROFILE_NAME: "aws-2",
      CLUSTER_PROFILE_SET_NAME: "aws-set",
      CLUSTER_TYPE: "aws",
    });
  });

  test("assigns resources to variables in request order, not in grant order", () => {
    const namedLeases = [
      parseNamedLease("LEASE1=b:2"),
      parseNamedLease("LEASE0=a"),
      parseNamedLease("MORE=b"),
    ];
    const lease = granted(["a", "a-0"], ["b", "b-0"], ["b", "b-1"], ["b", "b-2"]);
    expect(planVariables({ profile: undefined, namedLeases }, lease)).toEqual({
      LEASE1: "b-0 b-1",
      LEASE0: "a-0",
      MORE: "b-2",
    });
  });

  test("gives the first resource to the profile if --lease names the same pool", () => {
    const namedLeases = [parseNamedLease("EXTRA=aws-slice")];
    const lease = granted(["aws-slice", "r1--s-0"], ["aws-slice", "r2--s-1"]);
    expect(planVariables({ profile: aws, namedLeases }, lease)).toMatchObject({
      LEASED_RESOURCE: "r1",
      EXTRA: "r2",
    });
  });
});

test("planRequest() puts everything into one request", () => {
  const namedLeases = [parseNamedLease("A=b:3"), parseNamedLease("B=aws-slice")];
  const flags = { pool: [{ pool: "b", count: 1 }], holder: "me" };
  expect(planRequest(flags, { profile: aws, namedLeases }, "t")).toEqual({
    holder: "me",
    items: [
      { pool: "aws-slice", count: 2 },
      { pool: "b", count: 4 },
    ],
  });
});

test.each([
  ["=pool", "'env' cannot be empty"],
  ["ENV=", "'resource_type' cannot be empty"],
  ["ENV", "'resource_type' cannot be empty"],
  ["A-B=pool", "it does not start with a variable name"],
])("parseNamedLease(%s) throws: %s", (text, message) => {
  expect(() => parseNamedLease(text)).toThrow(message);
});
