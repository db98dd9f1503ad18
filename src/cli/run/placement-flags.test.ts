import { expect, test } from "vitest";
import { askOf } from "./request-flags.ts";

const vsphere = [{ pool: "vsphere", count: 2 }];

test("askOf() puts what is said of amounts and places into the item", () => {
  const flags = {
    pool: vsphere,
    amount: [{ key: "vcpus", value: 24 }],
    tolerate: [{ key: "dedicated", operator: "Exists" as const }],
    atMost: [{ key: "vcenter", value: 3 }],
    group: { name: "e2e", size: 2 },
  };
  expect(askOf(flags, "job", "run")).toMatchObject({
    items: [
      {
        pool: "vsphere",
        count: 2,
        amount: { vcpus: 24 },
        tolerations: [{ key: "dedicated", operator: "Exists" }],
        atMost: { vcenter: 3 },
      },
    ],
    group: { name: "e2e", size: 2 },
  });
});

test("askOf() does not guess which of several pools an amount is for", () => {
  const pool = [...vsphere, { pool: "aws", count: 1 }];
  const ask = () => askOf({ pool, amount: [{ key: "vcpus", value: 24 }] }, "job", "run");
  expect(ask).toThrow("Cannot tell which pool is meant by amount");
});
