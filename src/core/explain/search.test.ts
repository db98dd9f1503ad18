import { expect, test } from "vitest";
import { ClusterLending, clusterPool } from "../clusters/clusters.suite.ts";
import { HubLending, hub } from "../clusters/hubs.suite.ts";
import { acquire, change, Lending, pool } from "../decide/lending.suite.ts";
import type { ResourceName, SpaceName } from "../model/ids.ts";
import { defaultSpacePolicy } from "../model/space.ts";
import { type SearchSight, search } from "./search.ts";

const spaces = {
  spaces: [{ name: "web" as SpaceName, policy: defaultSpacePolicy }],
  others: defaultSpacePolicy,
};

function found(lending: Lending, text: string, sight?: SearchSight): string[] {
  const { items } = search(lending.state, text, 9, sight);
  return items.map(({ kind, title }) => `${kind} ${title}`);
}

test("names come first that are the text, then those that begin with it, then words in them", () => {
  const lending = new Lending(pool("my-esx", 1), pool("esx", 1), pool("resx", 0));
  expect(found(lending, "ESX")).toEqual([
    ...["pool esx", "resource esx-1"],
    ...["pool my-esx", "resource my-esx-1", "pool resx"],
  ]);
});

test("a pool that requests wait for comes before others that begin with the text", () => {
  const idle = Array.from({ length: 20 }, (_, index) => pool(`esx-${index}`, 1));
  const lending = new Lending(...idle, pool("lab-esx", 1), pool("lab-other", 1));
  const first = () => search(lending.state, "esx", 9, undefined, "pool").items[0]?.title;
  lending.do(acquire("1", "lab-esx"));
  expect(first()).toBe("esx-0");
  lending.do(acquire("2", "lab-esx"));
  expect(first()).toBe("lab-esx");
  for (const id of ["3", "4"]) lending.do(acquire(id, "esx-0"));
  expect(first()).toBe("esx-0");
  // The name itself stays the best.
  expect(found(lending, "esx-7")[0]).toBe("pool esx-7");
});

test("an id is found by its start, and called by its holder", () => {
  const lending = new Lending(pool("aws", 1));
  lending.do(acquire("1m7webf7", "aws", { holder: "ci/7" }));
  const { items } = search(lending.state, "1m7w", 9);
  expect(items).toEqual([{ kind: "lease", name: "1m7webf7", title: "ci/7", about: "holds aws-1" }]);
  expect(found(lending, "webf")).toEqual([]);
});

test("what is found by a note or a label has the line that was found", () => {
  const lending = new Lending(pool("aws", 3));
  const long = `${"x".repeat(200)} the disk is broken ${"y".repeat(200)}`;
  lending.do(change("aws-1", { note: "first line\nThe Disk fails\nlast line" }));
  lending.do(change("aws-2", { note: long }));
  lending.do(change("aws-3", { labels: { zone: "disk-east" } }));
  const matches = (text: string) =>
    search(lending.state, text, 9).items.map(({ name, match }) => [name, match]);
  expect(matches("disk")).toEqual([
    ["aws-1", "The Disk fails"],
    ["aws-2", expect.stringMatching(/^… x+ the disk is broken y+ …$/)],
    ["aws-3", "disk-east"],
  ]);
  expect(matches("aws disk fails")).toEqual([["aws-1", "The Disk fails"]]);
  // The name says it already.
  expect(matches("aws-1")).toEqual([["aws-1", undefined]]);
});

test("a hub is found by those who may see hubs", () => {
  const { state } = new HubLending([hub("hub-lab", 2)], []);
  expect(search(state, "lab", 9).items).toEqual([
    { kind: "hub", name: "hub-lab", title: "hub-lab", about: "active hub, 0 clusters" },
  ]);
  const sight = { sees: () => true, seesSpace: () => true, readsNote: () => true, seesHubs: false };
  expect(search(state, "lab", 9, sight).items).toEqual([]);
});

test("a space is found by those who may see it", () => {
  const lending = new Lending(pool("aws", 1));
  lending.do({ type: "configure", pools: [pool("aws", 1)], spaces });
  expect(found(lending, "web")).toEqual(["space web"]);
  expect(found(lending, "web", sightOfNobody)).toEqual([]);
});

test("many hits of one kind leave room for the others", () => {
  const lending = new Lending(pool("aws", 30));
  lending.do(acquire("1", "aws", { holder: "nightly/aws" }));
  const { items, more, counts } = search(lending.state, "aws", 9);
  expect(counts).toEqual({ pool: 1, resource: 30, lease: 1 });
  const kinds = items.map(({ kind }) => kind);
  expect([kinds[0], kinds.length, kinds.at(-1), more]).toEqual(["pool", 9, "lease", true]);
});

test("several words are found in any order, after what has the whole text", () => {
  const lending = new Lending(pool("aws-release-quota", 0), pool("release aws", 0));
  expect(found(lending, "Release AWS")).toEqual(["pool release aws", "pool aws-release-quota"]);
  expect(found(lending, "aws quota gcp")).toEqual([]);
  // None of them is ignored.
  expect(found(lending, "aws quota release a q r e u l t s gcp")).toEqual([]);
  expect(found(lending, "aws quota release a q r e gcp")).toEqual([]);
});

test("words may be in the pool, the holder, the note and the labels of one thing", () => {
  const lending = new Lending(pool("esx", 1), pool("gcp", 2));
  lending.do(acquire("1", "esx", { holder: "nightly/7", labels: { branch: "main" } }));
  lending.do(acquire("2", "esx", { holder: "nightly/8" }));
  lending.do(acquire("3", "gcp", { holder: "nightly/9" }));
  const both = ["resource esx-1", "request nightly/8", "lease nightly/7"];
  expect(found(lending, "esx nightly").toSorted()).toEqual(both.toSorted());
  expect(found(lending, "main esx")).toEqual(["lease nightly/7"]);
  expect(found(lending, "esx-1 nightly").toSorted()).toEqual(["lease nightly/7", "resource esx-1"]);
  lending.do(change("gcp-2", { note: "fan is loud" }));
  expect(found(lending, "gcp loud")).toEqual(["resource gcp-2"]);
  // A pool alone is not everything that is in it.
  expect(found(lending, "gcp")).toEqual(["pool gcp", "resource gcp-1", "resource gcp-2"]);
  const other = { ...sightOfNobody, readsNote: () => false };
  expect(found(lending, "esx nightly", other)).toEqual([]);
  expect(found(lending, "gcp loud", other)).toEqual([]);
});

const sightOfNobody = {
  sees: () => false,
  seesSpace: () => false,
  readsNote: () => true,
  seesHubs: false,
};

test.each([
  ["a name with two letters swapped", "lab-vshpere", "lab-vsphere"],
  ["a word of a name", "nutanx", "nutanix"],
  ["how some names begin", "nutanix-regstry", "nutanix-registry"],
  ["nothing that is near", "kubernetes", undefined],
])("nothing is found: %s is meant", (_, text, meant) => {
  const { state } = new Lending(pool("lab-vsphere", 1), pool("nutanix-registry-segment", 1));
  expect(search(state, text, 9)).toEqual({
    ...{ items: [], more: false, counts: {} },
    ...(meant && { meant }),
  });
});

test("why a resource is drained is found by those who may read its note", () => {
  const lending = new Lending(pool("esx", 2));
  lending.do({
    ...{ type: "change-resource", resource: "esx-2" as ResourceName, change: { drained: true } },
    reason: { by: "night shift", why: "fan is loud" },
  });
  expect(found(lending, "fan is loud")).toEqual(["resource esx-2"]);
  expect(found(lending, "night shift")).toEqual(["resource esx-2"]);
  expect(found(lending, "loud", { ...sightOfNobody, readsNote: () => false })).toEqual([]);
});

test("one kind alone is listed further, and all kinds are counted", () => {
  const { state } = new Lending(pool("aws", 30));
  const { items, more, counts } = search(state, "aws", 40, undefined, "resource");
  expect([items.length, more, counts]).toEqual([30, false, { pool: 1, resource: 30 }]);
  // The pool is found, so nothing else is meant.
  const pools = new Lending(pool("only-pool", 0)).state;
  expect(search(pools, "only-pool", 9, undefined, "lease")).toEqual({
    ...{ items: [], more: false, counts: { pool: 1 } },
  });
});

test("a cluster is found as a cluster", () => {
  const lending = new ClusterLending();
  lending.outcome({ type: "configure", pools: [clusterPool("ocp", { size: 1 })] });
  lending.plan();
  for (const one of [undefined, sightOfNobody]) {
    const { items } = search(lending.state, "ocp-1", 9, one);
    expect(items).toEqual([
      { kind: "cluster", name: "ocp-1", title: "ocp-1", about: "creating in ocp" },
    ]);
  }
});
