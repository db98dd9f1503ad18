import { describe, expect, test } from "vitest";
import type { ClusterKind } from "../kubernetes/clusters.ts";
import { admissionManifestsOf, type ManifestOptions, manifestsOf } from "./manifests.ts";
import type { SlotSet } from "./slot.ts";

const kind: ClusterKind = {
  group: "hypershift.openshift.io",
  version: "v1beta1",
  plural: "hostedclusters",
  namespace: "clusters",
  tag: "ci",
};

function optionsFor(namespace: string): ManifestOptions {
  const set: SlotSet = { namespace, prefix: "slot", app: "slots", count: 3 };
  return { set, kind, deleting: 2 };
}

interface Binding {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function bindingNames(objects: readonly object[]): string[] {
  return (objects as readonly Binding[])
    .filter(({ kind: name }) => name.endsWith("Binding"))
    .map(({ kind: name, metadata }) => `${name} ${metadata.namespace ?? ""}/${metadata.name}`);
}

describe.each([
  ["manifestsOf()", manifestsOf],
  ["admissionManifestsOf()", admissionManifestsOf],
])("%s", (_, make) => {
  test("overwrites no binding of another namespace", () => {
    const first = bindingNames(make(optionsFor("team-a")));
    const second = new Set(bindingNames(make(optionsFor("team-b"))));
    expect(first.length).toBeGreaterThan(1);
    expect(first.filter((name) => second.has(name))).toEqual([]);
  });
});
