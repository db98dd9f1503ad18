import { expect, test } from "vitest";
import { placementOptions } from "./placement-flags.ts";
import { buildRequest } from "./request-flags.ts";

const vsphere = [{ pool: "vsphere", count: 2 }];

test("buildRequest() puts the placement flags into the item", () => {
  const flags = {
    pool: vsphere,
    amount: [{ key: "vcpus", value: 24 }],
    tolerate: [{ key: "dedicated", operator: "Exists" as const }],
    atMost: [{ key: "vcenter", value: 3 }],
    group: { name: "e2e", size: 2 },
  };
  expect(buildRequest(flags, "job", "run")).toMatchObject({
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

test("buildRequest() refuses placement flags for several pools, with the flags as typed", () => {
  const pool = [...vsphere, { pool: "aws", count: 1 }];
  const amount = [{ key: "vcpus", value: 24 }];
  const tolerate = [{ key: "dedicated" }];
  const atMost = [{ key: "vcenter", value: 3 }];
  expect(() => buildRequest({ pool, amount }, "job", "run")).toThrow(
    "Cannot use --amount: the request has several pools",
  );
  expect(() => buildRequest({ pool, tolerate, atMost }, "job", "run")).toThrow(
    "Cannot use --tolerate and --at-most: the request has several pools",
  );
});

test("--amount refuses 0 before anything is sent", async () => {
  const amount = placementOptions().find(({ long }) => long === "--amount");
  expect(() => amount?.parseArg?.("vcpus=0", undefined)).toThrow("its number is 0");
  expect(amount?.parseArg?.("vcpus=1", undefined)).toEqual([{ key: "vcpus", value: 1 }]);
});

test("buildRequest() allows --group with several pools", () => {
  const pool = [...vsphere, { pool: "aws", count: 1 }];
  const group = { name: "e2e", size: 2 };
  expect(buildRequest({ pool, group }, "job", "run")).toMatchObject({ items: pool, group });
});
