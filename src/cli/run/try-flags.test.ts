import { expect, test } from "vitest";
import { optionalAddressLeases } from "./try-flags.ts";

const profile = { name: "aws", type: "aws", pool: "aws-slice", ipPool: "ips" };

test("optionalAddressLeases() requests thirteen addresses of the region's pool, or none", () => {
  expect(optionalAddressLeases({ name: "t", profile, region: "us-east-1" })).toEqual([
    { pool: "ips-us-east-1", min: 13, max: 13 },
  ]);
  expect(optionalAddressLeases({ name: "t", profile })).toEqual([]);
  const { ipPool: _, ...plain } = profile;
  expect(optionalAddressLeases({ name: "t", profile: plain, region: "us-east-1" })).toEqual([]);
});

test("optionalAddressLeases() throws if the region is unknown", () => {
  expect(() => optionalAddressLeases({ name: "t", profile, region: "" })).toThrow(
    "Cannot run: failed to determine region to acquire lease for ips",
  );
});
