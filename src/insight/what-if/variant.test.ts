import { describe, expect, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import { variantOf } from "./variant.ts";

const payments = { name: "payments" as SpaceName, policy: { weight: 2, quotas: [] } };
const pools = [pool("aws", 3), pool("gcp", 2)];

describe("variantOf()", () => {
  test("changes the size of a pool, and says which pool that is", () => {
    const tenancy = { spaces: { spaces: [payments], others: null } };
    const found = variantOf(["aws.count=5"], { pools, tenancy });
    expect(found.pools[0]?.members).toHaveLength(5);
    expect(found).toMatchObject({ changed: ["aws"], inForce: pools, tenancy });
  });

  test("changes the weight of a space, which concerns every pool", () => {
    const tenancy = { spaces: { spaces: [payments], others: null } };
    const found = variantOf(["space:payments.weight=0.5", "aws.count=5"], { pools, tenancy });
    expect(found.tenancy.spaces?.spaces).toEqual([
      { name: "payments", policy: { weight: 0.5, quotas: [] } },
    ]);
    expect(found.changed).toBeUndefined();
    expect(payments.policy.weight).toBe(2);
  });

  test("a space that is not listed has the rules of all others, and a new weight", () => {
    const others = { weight: 1, quotas: [], waitingMax: 5 };
    const tenancy = { spaces: { spaces: [], others } };
    const found = variantOf(["space:web.weight=3"], { pools, tenancy });
    expect(found.tenancy.spaces?.spaces).toEqual([
      { name: "web", policy: { ...others, weight: 3 } },
    ]);
    const closed = { spaces: { spaces: [payments], others: null } };
    expect(() => variantOf(["space:web.weight=3"], { pools, tenancy: closed })).toThrow(
      'Cannot set "space:web.weight=3": there is no such space',
    );
  });

  test.each(["space:web.weight=", "space:web.weight=-1", "space:web.weight=1e3", "space:web"])(
    "refuses %s",
    (text) => {
      expect(() => variantOf([text], { pools, tenancy: {} })).toThrow(`Cannot set "${text}"`);
    },
  );
});
