import { expect, test } from "vitest";
import type { AuditEntry } from "../../api/audit-schemas.ts";
import { objectOf, sentenceOf } from "./audit.ts";

test.each([
  [{ resources: ["aws-1", "aws-2", "aws-3"] }, "aws-1,aws-2,aws-3"],
  [{ resources: ["a", "b", "c", "d", "e"] }, "a,b,c and 2 more"],
  [{ resources: ["a", "b", "c", "d"], detail: { resourceCount: 135 } }, "a,b,c and 132 more"],
  [{ lease: "1m7gc8k0", pools: ["aws"] }, "1m7gc8k0"],
  [{ pools: ["aws"] }, "aws"],
  [{ detail: { call: "PATCH /v1/resources" } }, "PATCH /v1/resources"],
  [{}, "-"],
])("objectOf(%o) is %s", (facts, want) => {
  expect(objectOf(facts as AuditEntry)).toBe(want);
});

test.each([
  [
    { action: "resource-changed", detail: { drained: true }, resources: ["aws-1"] },
    "drained aws-1",
  ],
  [{ action: "lease-granted", way: "http", resources: ["a"], holder: "ci/1" }, "got a for ci/1"],
  [{ action: "lease-revoked", lease: "1m7gc8k0" }, "revoked the lease of 1m7gc8k0"],
  [
    { action: "pool-defined", pools: ["a", "b", "c", "d"], detail: { poolCount: 9 } },
    "configured a,b,c and 6 more",
  ],
  [{ action: "pool-suspended" }, "suspended -"],
])("sentenceOf(%o) is %s", (facts, want) => {
  expect(sentenceOf(facts as AuditEntry)).toBe(want);
});
