import { resolve } from "node:path";
import { expect, test } from "vitest";
import { aLease } from "../../client/scripted-server.suite.ts";
import { leaseVariables, refuseVariableClashes, variableSuffix } from "./lease-variables.ts";

test.each([
  ["aws-account", "AWS_ACCOUNT"],
  ["vm.large/2", "VM_LARGE_2"],
  ["ünder", "_NDER"],
])("variablePart(%j) is %s", (pool, want) => {
  expect(variableSuffix(pool)).toBe(want);
});

test("leaseVariables() lists every resource and fence of each pool", () => {
  const claim = { id: "c", fence: 1, heldUntil: null, labels: {} };
  const claims = [
    { ...claim, pool: "aws", resource: "aws-1", fence: 7 },
    { ...claim, pool: "vm", resource: "vm-9", fence: 8 },
    { ...claim, pool: "aws", resource: "aws-4", fence: 9 },
  ];
  const lease = { ...aLease({ claims }), token: "secret" };
  expect(leaseVariables(lease, "http://x")).toEqual({
    BERTH_LEASE_ID: "r1",
    BERTH_LEASE_TOKEN: "secret",
    BERTH_TOKEN: "secret",
    BERTH_URL: "http://x",
    BERTH_RESOURCE_AWS: "aws-1 aws-4",
    BERTH_FENCE_AWS: "7 9",
    BERTH_RESOURCE_VM: "vm-9",
    BERTH_FENCE_VM: "8",
  });
});

test("leaseVariables() pass --token-file on, so that nested commands have the same credentials", () => {
  const lease = { ...aLease({ claims: [] }), token: "secret" };
  expect(leaseVariables(lease, "http://x", "ci.token")).toMatchObject({
    BERTH_TOKEN: "secret",
    BERTH_TOKEN_FILE: resolve("ci.token"),
  });
});

test("refuseVariableClashes() names both pools and the variable", () => {
  expect(() => refuseVariableClashes(["a-b", "c", "a_b"])).toThrow(
    "Cannot request a-b and a_b together: both would set BERTH_RESOURCE_A_B",
  );
  expect(() => refuseVariableClashes(["a", "b"])).not.toThrow();
});
