import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { Lending } from "../core/decide/lending.suite.ts";
import { want } from "../core/shared/capacity.suite.ts";
import { importVcm } from "./import-vcm.ts";
import { parseConfig } from "./parse.ts";

const typeLabel = "vsphere-capacity-manager.splat-team.io/network-type";

function pool(name: string, spec: object = {}, labels: object = {}): string {
  return stringify({
    kind: "Pool",
    metadata: { name, labels },
    spec: {
      ...{ server: "vc1.example.org", region: "us-east", zone: "us-east-1a", name },
      ...{ vcpus: 240, memory: 2684, storage: 9000, ibmPoolSpec: { pod: "dal10.pod03" } },
      topology: {
        computeCluster: "/dc/host/one",
        datacenter: "/dc",
        datastore: "/dc/datastore/one",
        networks: ["/dc/network/ci-vlan-1", "/dc/network/ci-vlan-2-1"],
      },
      ...spec,
    },
  });
}

function network(name: string, portGroupName: string, spec: object = {}, type?: string): string {
  return stringify({
    kind: "Network",
    metadata: { name, ...(type === undefined ? {} : { labels: { [typeLabel]: type } }) },
    spec: {
      ...{ portGroupName, vlanId: portGroupName.split("-")[2], datacenterName: "dal10" },
      ...{ podName: "dal10.pod03", gateway: "10.0.0.1", ipAddresses: [`10.0.0.${name.length}`] },
      ...spec,
    },
  });
}

const files = (...texts: string[]) => texts.map((text, index) => ({ file: `${index}.yaml`, text }));
const found = (...texts: string[]) =>
  importVcm(files(...texts)).findings.map(({ message }) => message);

const good = [
  pool(
    "ci",
    { overCommitRatio: "2.5", taints: [{ key: "gpu", effect: "NoSchedule" }] },
    { tier: "x" },
  ),
  pool("w1", { exclude: true, shortName: "w-1" }),
  network("one", "ci-vlan-1"),
  network("second", "ci-vlan-2-1", {}, "multi-tenant"),
];

test("manifests become a configuration that is read without a complaint", () => {
  const { config, findings } = importVcm(files(...good));
  expect(findings).toEqual([]);
  const parsed = parseConfig(stringify(config), "berth.yaml");
  expect(parsed).toMatchObject({ ok: true, warnings: [] });
  const [vsphere] = parsed.ok ? parsed.pools : [];
  expect(vsphere?.members).toMatchObject([
    {
      name: "ci",
      labels: { vcenter: "vc1.example.org", datacenter: "dc", tier: "x" },
      room: {
        capacity: { vcpus: 240, memory: 2684, storage: 9000 },
        overcommit: { vcpus: "2.5" },
        taints: [{ key: "gpu", effect: "NoSchedule" }],
        parts: { networks: ["one"], "multi-tenant": ["second"] },
      },
    },
    { name: "w1", labels: { shortName: "w-1" }, room: { excluded: true } },
  ]);
  expect(vsphere?.policy.placement?.parts?.["networks"]).toMatchObject({
    apart: "vlan",
    members: { one: { vlan: "dal10/1", gateway: "10.0.0.1", ipAddresses: ["10.0.0.3"] } },
  });
});

test.each([0, undefined])("storage of %j is not counted: it fits every request", (storage) => {
  const { config, findings } = importVcm(
    files(pool("ci", { storage, topology: { datacenter: "dc" } })),
  );
  expect(findings.map(({ message }) => message)).toEqual([
    "the Pool ci has no storage, which means that storage is not counted; " +
      "it gets storage: 1000000000, so that every request fits",
  ]);
  const parsed = parseConfig(stringify(config), "berth.yaml");
  const lending = new Lending(...(parsed.ok ? parsed.pools : []));
  lending.do(want("a", { amount: { vcpus: 1, storage: 700 } }));
  expect(lending.held("a")).toEqual(["ci"]);
});

describe("it is told of", () => {
  test.each([
    [
      "a port group that is no Network",
      [pool("ci"), network("one", "ci-vlan-1")],
      /no Network: ci-vlan-2-1/,
    ],
    [
      "a Network in no Pool",
      [...good, network("lost", "ci-vlan-9")],
      /no Pool has the Network lost/,
    ],
    [
      "another pod",
      [...good, network("far", "ci-vlan-1", { podName: "x" })],
      /no Pool has the Network far/,
    ],
    [
      "two for one port group",
      [...good, network("twin1", "ci-vlan-1")],
      /one and twin1 are both ci-vlan-1/,
    ],
    [
      "windows that overlap",
      [...good, network("other", "ci-vlan-1", { ipAddresses: ["10.0.0.3"] })],
      /one and other overlap, first at 10.0.0.3/,
    ],
    [
      "a misspelt type",
      [...good, network("bad", "ci-vlan-1", {}, "mutli-tenant")],
      /mutli-tenant, .*multi-tenant is meant/,
    ],
    [
      "a misspelt key",
      [pool("ci", { requiresPool: "x", excude: true })],
      /excude; exclude is meant/,
    ],
    ["an absurd ratio", [pool("ci", { overCommitRatio: "-1" })], /ratio -1 of ci is none/],
    [
      "the old flat shape",
      ["kind: Pool\nmetadata: { name: old }\nspec: { vcpus: 1 }\n"],
      /old has no topology/,
    ],
    ["what is no YAML", ["kind: [Pool\n"], /flow collection|Flow sequence/i],
  ])("%s", (_, texts, want) => {
    expect(found(...(texts as string[])).join("\n")).toMatch(want);
  });
});
