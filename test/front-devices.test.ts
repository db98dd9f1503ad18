/** What `berth export dra` prints, before a real API server. */
import { describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { kubectl } from "./manifests.ts";
import { sharedCluster } from "./shared-cluster.ts";

const pools = {
  "aws-account": { members: ["AWS_1", "aws-1", "aws.2"] },
  quota: { count: 130 },
  vsphere: {
    place: "least-used",
    members: {
      "host-1": { capacity: { vcpus: 96, "memory-gb": 512 }, labels: { "site/row": "a" } },
    },
  },
};

describe.skipIf(noKube)("berth export dra", { timeout: patienceMs }, () => {
  test("prints objects that an API server accepts", async (context) => {
    const cluster = sharedCluster();
    const { stdout: versions } = kubectl(cluster, ["api-versions"]);
    context.skip(!versions.includes("resource.k8s.io/v1\n"), "it needs Kubernetes 1.34 or newer");
    await using server = await TestServer.start(pools, "--log-level", "warn");
    const { code, stdout, all } = await server.done(["export", "dra", "-o", "json"]);
    expect(code, all).toBe(0);
    const asked = ["create", "--dry-run=server", "-o", "name", "-f", "-"];
    const { status, stdout: names, stderr } = kubectl(cluster, asked, stdout);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(names.trim().split("\n")).toEqual([
      "deviceclass.resource.k8s.io/aws-account",
      "resourceslice.resource.k8s.io/aws-account-1",
      "deviceclass.resource.k8s.io/quota",
      "resourceslice.resource.k8s.io/quota-1",
      "resourceslice.resource.k8s.io/quota-2",
      "deviceclass.resource.k8s.io/vsphere",
      "resourceslice.resource.k8s.io/vsphere-1",
    ]);
  });

  test("refuses a name that no driver can have", async () => {
    await using server = await TestServer.start(pools, "--log-level", "warn");
    const { code, all } = await server.done(["export", "dra", "--driver", "My Driver"]);
    expect(all).toContain('Cannot use --driver "My Driver": it is not a name of a driver');
    expect(code).toBe(64);
  });
});
