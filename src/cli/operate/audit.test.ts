import { expect, test } from "vitest";
import type { AuditEntry } from "../../api/audit-schemas.ts";
import { objectOf } from "./audit.ts";

test.each([
  [{ resources: ["aws-1", "aws-2", "aws-3"] }, "aws-1,aws-2,aws-3"],
  [{ resources: ["a", "b", "c", "d", "e"] }, "a,b,c and 2 more"],
  [{ lease: "1m7gc8k0", pools: ["aws"] }, "1m7gc8k0"],
  [{ pools: ["aws"] }, "aws"],
  [{ detail: { call: "PATCH /v1/resources" } }, "PATCH /v1/resources"],
  [{}, "-"],
])("objectOf(%o) is %s", (facts, want) => {
  expect(objectOf(facts as AuditEntry)).toBe(want);
});
