import { describe, expect, test } from "vitest";
import { addressKey } from "./address-key.ts";
import { FloodLimits } from "./flood-limits.ts";
import { TokenBuckets } from "./token-buckets.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:0002::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["an unknown address behind a proxy", "an unknown address behind a proxy"],
])("addressKey(%s) is %s", (address, key) => expect(addressKey(address)).toBe(key));

describe("TokenBuckets", () => {
  test("allows a burst, then the rate, and says how long to wait", () => {
    const buckets = new TokenBuckets({ perSecond: 2, burst: 3 }, 10);
    expect([1, 2, 3].map(() => buckets.take("a", 0))).toEqual([0, 0, 0]);
    expect(buckets.take("a", 0)).toBe(500);
    expect(buckets.waitMs("a", 100)).toBe(400);
    expect(buckets.take("a", 500)).toBe(0);
    expect(buckets.take("a", 500)).toBe(500);
    // Another key has a bucket of its own, and an idle one is full again.
    expect(buckets.take("b", 500)).toBe(0);
    expect([1, 2, 3, 4].map(() => buckets.take("a", 60_000))).toEqual([0, 0, 0, 500]);
  });

  test("forgets full buckets first, and never has more keys than its limit", () => {
    const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, 100);
    expect(buckets.take("limited", 0)).toBe(0);
    for (let key = 0; key < 1_000_000; key++) buckets.take(`made up ${key}`, 0.5);
    expect(buckets.size).toBeLessThanOrEqual(100);
    // A clock that jumps back never makes a bucket fuller than full.
    expect(buckets.take("new", 1_000)).toBe(0);
    expect(buckets.take("new", 0)).toBeGreaterThan(0);
  });
});

test("a failure is 429 only beyond the burst, and a valid caller is never counted", () => {
  const limits = new FloodLimits({
    requests: { perSecond: 1, burst: 1 },
    failures: { perSecond: 1, burst: 2 },
  });
  expect(limits.countFailure("2001:db8::1", 0)).toBeUndefined();
  expect(limits.countFailure("2001:db8::2", 0)).toBeUndefined();
  expect(limits.countFailure("2001:db8::3", 0)).toMatchObject({
    ...{ status: 429, code: "too_many_failures", facts: { retryAfterSeconds: 1 } },
  });
  expect(() => limits.mustMayFail("2001:db8::4", 0)).toThrow(/too many/);
  expect(() => limits.mustMayFail("192.0.2.1", 0)).not.toThrow();
  limits.countLeaseCall("x", 0);
  expect(() => limits.countLeaseCall("x", 0)).toThrow(/too many calls/);
  expect(() => limits.countLeaseCall("y", 0)).not.toThrow();
  expect(limits.refused).toEqual({ requests: 1, failures: 2 });
});
