import { describe, expect, test } from "vitest";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import type { LeaseObject } from "../../kubernetes/kube-objects.ts";
import { grantedIn } from "./claims.suite.ts";
import { compare, type Difference, leaseObject } from "./lease-object.ts";

const spec = { namespace: "berth", prefix: "berth", labels: { team: "ci" } };
const [claim] = grantedIn({ members: ["aws-1"] });
if (claim === undefined) throw new Error("nothing was granted");
const object = leaseObject(spec, claim);

describe("leaseObject()", () => {
  test("contains the holder, the time of the grant and the ttl", () => {
    expect(object).toEqual({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: "berth-aws-1",
        namespace: "berth",
        labels: { team: "ci", "app.kubernetes.io/managed-by": "berth", "berth/mirror": "berth" },
        annotations: {
          "berth/pool": "pool",
          "berth/resource": "aws-1",
          "berth/lease": "r0",
          "berth/claim": "1",
          "berth/fence": "1700000000000001",
          "berth/labels": "team",
        },
      },
      spec: {
        holderIdentity: "job-0",
        leaseDurationSeconds: 60,
        acquireTime: "2023-11-14T22:13:20.000000Z",
        renewTime: "2023-11-14T22:13:20.000000Z",
        leaseTransitions: 1_700_000_000_000_001 % 2 ** 31,
      },
    });
  });

  test("contains nothing that only the holder may know", () => {
    expect(JSON.stringify(object)).not.toContain("a-secret");
  });

  test("keeps the labels and annotations that others added, and the version", () => {
    const added = { a: "1", team: "other" };
    const seen = {
      metadata: { name: "berth-aws-1", uid: "u", resourceVersion: "7", labels: added },
    };
    expect(leaseObject(spec, claim, seen).metadata).toMatchObject({
      uid: "u",
      resourceVersion: "7",
      labels: { a: "1", team: "ci" },
    });
  });
});

describe("a label that was removed from the configuration", () => {
  const kept = { "app.kubernetes.io/managed-by": "berth", "berth/mirror": "berth", theirs: "1" };
  const labels = { ...kept, team: "ci" };
  const seen = { ...object, metadata: { ...object.metadata, labels } };
  const rows: [string, MirrorSpec, object][] = [
    ["is removed, and labels of others stay", { ...spec, labels: { area: "x" } }, { area: "x" }],
    ["is removed if no label is left", { ...spec, labels: {} }, {}],
  ];

  test.each(rows)("%s", (_name, now, own) => {
    expect(compare(now, claim, seen)).toBe("wrong");
    const put = leaseObject(now, claim, seen);
    expect(put.metadata.labels).toEqual({ ...kept, ...own });
    expect(compare(now, claim, put)).toBe("none");
  });
});

describe("compare() returns the difference for", () => {
  const changed = (change: object): LeaseObject => ({ ...object, ...change });
  const withSpec = (change: object) => changed({ spec: { ...object.spec, ...change } });
  const cases: Record<string, [LeaseObject, Difference]> = {
    "the same object": [object, "none"],
    "a field of a newer Kubernetes": [withSpec({ strategy: "x" }), "none"],
    "a recent heartbeat": [withSpec({ renewTime: "2023-11-14T22:12:50.001000Z" }), "none"],
    "an old heartbeat": [withSpec({ renewTime: "2023-11-14T22:12:50.000000Z" }), "stale"],
    "a heartbeat in the future": [withSpec({ renewTime: "2024-01-01T00:00:00.000000Z" }), "stale"],
    "a missing heartbeat": [withSpec({ renewTime: undefined }), "stale"],
    "another holder": [withSpec({ holderIdentity: "you" }), "wrong"],
    "another fence": [withSpec({ leaseTransitions: 2 }), "wrong"],
    "an edited label": [changed({ metadata: { ...object.metadata, labels: {} } }), "wrong"],
    "an edited annotation": [
      changed({ metadata: { ...object.metadata, annotations: {} } }),
      "wrong",
    ],
    "an object without a spec": [changed({ spec: undefined }), "wrong"],
  };

  test.each(Object.entries(cases))("%s", (_, [seen, difference]) => {
    expect(compare(spec, claim, seen)).toBe(difference);
  });
});
