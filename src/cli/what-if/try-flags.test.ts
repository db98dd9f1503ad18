import { expect, test } from "vitest";
import { addressesOf } from "./try-flags.ts";

const profile = { name: "aws", type: "aws", pool: "aws-slice", ipPool: "ips" };

test("addressesOf() asks for thirteen of the region's pool, or for none", () => {
  expect(addressesOf({ name: "t", profile, region: "us-east-1" })).toEqual([
    { pool: "ips-us-east-1", min: 13, max: 13 },
  ]);
  expect(addressesOf({ name: "t", profile })).toEqual([]);
  const { ipPool: _, ...plain } = profile;
  expect(addressesOf({ name: "t", profile: plain, region: "us-east-1" })).toEqual([]);
});

test("addressesOf() refuses a region that nobody can tell", () => {
  expect(() => addressesOf({ name: "t", profile, region: "" })).toThrow(
    "Cannot run: failed to determine region to acquire lease for ips",
  );
});
