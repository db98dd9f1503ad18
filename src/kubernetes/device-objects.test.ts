import { describe, expect, test } from "vitest";
import type { Resource } from "../api/schemas.ts";
import { deviceObjects } from "./device-objects.ts";

function resource(name: string, more: Partial<Resource> = {}): Resource {
  return {
    ...{ name, pool: "aws-account", state: "free", drained: false, retiring: false, note: "" },
    ...{ changedAt: "2026-01-01T00:00:00Z", restsUntil: null, dynamic: false, expiresAt: null },
    ...{ failures: 0, labels: {}, userDataKeys: [], lease: null },
    ...more,
  };
}

const devicesOf = (resources: readonly Resource[]) =>
  deviceObjects(resources, "berth")
    .items.filter(({ kind }) => kind === "ResourceSlice")
    .map(({ spec }) => (spec as { devices: { name: string }[] }).devices);

describe("deviceObjects()", () => {
  test("makes a class for a pool, and devices of its resources", () => {
    const { items, leftOut } = deviceObjects(
      [resource("aws-1", { labels: { tier: "1" } })],
      "berth",
    );
    expect(leftOut).toEqual([]);
    expect(items).toEqual([
      {
        ...{ apiVersion: "resource.k8s.io/v1", kind: "DeviceClass" },
        metadata: { name: "aws-account" },
        spec: {
          selectors: [
            {
              cel: {
                expression:
                  'device.driver == "berth" && device.attributes["berth"].pool == "aws-account"',
              },
            },
          ],
        },
      },
      {
        ...{ apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice" },
        metadata: { name: "aws-account-1" },
        spec: {
          driver: "berth",
          pool: { name: "aws-account", generation: 1, resourceSliceCount: 1 },
          allNodes: true,
          devices: [
            {
              name: "aws-1",
              attributes: {
                pool: { string: "aws-account" },
                resource: { string: "aws-1" },
                tier: { string: "1" },
              },
            },
          ],
        },
      },
    ]);
  });

  test("splits large pools", () => {
    const many = Array.from({ length: 300 }, (_, index) => resource(`aws-${index}`));
    expect(devicesOf(many).map(({ length }) => length)).toEqual([128, 128, 44]);
  });

  test("gives names that differ only in letters of Kubernetes a number", () => {
    const [devices = []] = devicesOf([resource("A_1"), resource("a.1"), resource("a-1")]);
    expect(devices.map(({ name }) => name)).toEqual(["a-1", "a-1-2", "a-1-3"]);
  });

  test("leaves out what cannot be lent, and says so", () => {
    const resources = [
      resource("aws-1", { state: "quarantined" }),
      resource("aws-2", { drained: true }),
      resource("aws-3", { state: "busy" }),
    ];
    expect(devicesOf(resources)).toMatchObject([[{ name: "aws-3" }]]);
    expect(deviceObjects(resources, "berth").leftOut).toEqual([
      "2 of aws-account: neither free nor held, or drained",
    ]);
  });

  test.each([
    ["a long value", { long: "x".repeat(65) }, "long of aws-1: it has more than 64 letters"],
    ["equal keys", { "a.b": "1", "a-b": "2" }, "label a-b of aws-1: another one is called a_b too"],
    ["a key of its own", { pool: "x" }, "label pool of aws-1: another one is called pool too"],
    [
      "many labels",
      Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`l${index}`, "x"])),
      "l30 of aws-1: the device has too many entries",
    ],
  ])("leaves out labels with %s, and says so", (_, labels, said) => {
    expect(deviceObjects([resource("aws-1", { labels })], "berth").leftOut).toEqual([said]);
  });

  test("shows the capacity of a shared resource, for many claims", () => {
    const usage = [{ dimension: "memory-gb", used: 2, capacity: 96.5 }];
    expect(devicesOf([resource("host-1", { usage })])).toMatchObject([
      [{ allowMultipleAllocations: true, capacity: { memory_gb: { value: "96.5" } } }],
    ]);
  });
});
