/** The chart: it makes the same objects as the kustomizations, and a real API server takes them. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { noKube, patienceMs } from "./kube-binaries.ts";
import {
  chartFolder,
  helm,
  kubectl,
  kustomized,
  kustomizeFolder,
  type Manifest,
  manifestsIn,
  noHelm,
  Overlay,
  templated,
} from "./manifests.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();

/** Labels by which Helm knows its objects, and what it says about the image. */
const ofHelm = /^(?:helm\.sh\/chart|app\.kubernetes\.io\/(?:instance|managed-by|version))$/;

/** Without what differs by nature: those labels, the order of keys and of variables, formats of text. */
function normal(value: unknown, key = ""): unknown {
  if (key === "berth.yaml") return parse(String(value));
  if (Array.isArray(value)) {
    const items = value.map((each) => normal(each));
    return key === "env" ? items.sort((a, b) => nameOf(a).localeCompare(nameOf(b))) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(
    ([name]) => !ofHelm.test(name) && name !== "imagePullPolicy",
  );
  return Object.fromEntries(kept.sort().map(([name, each]) => [name, normal(each, name)]));
}

const nameOf = (each: unknown) => String((each as { name?: string }).name);

/** Objects by kind and name. Helm makes no namespace, and adds it to objects when it installs them. */
function byName(manifests: readonly Manifest[]): Record<string, unknown> {
  const entries = manifests
    .filter(({ kind }) => kind !== "Namespace")
    .map((each) => {
      const { namespace, labels, ...metadata } = each.metadata;
      const own = Object.fromEntries(
        Object.entries(labels ?? {}).filter(([name]) => name !== "app.kubernetes.io/name"),
      );
      const elsewhere = namespace === "berth" ? undefined : namespace;
      const object = { ...each, metadata: { ...metadata, labels: own, namespace: elsewhere } };
      return [`${each.kind} ${metadata.name}`, normal(withoutClaimLabels(object))];
    });
  return Object.fromEntries(entries.sort());
}

/** Kustomize labels the claims of a stateful set, too. */
function withoutClaimLabels(object: object): object {
  return JSON.parse(
    JSON.stringify(object).replace(
      /"labels":\{"app.kubernetes.io\/name":"berth"\},("name":"data"\})/,
      "$1",
    ),
  );
}

describe.skipIf(noKube)("the chart", { timeout: patienceMs }, () => {
  test("makes the objects of deploy/kubernetes/base, unless told otherwise", (context) => {
    context.skip(noHelm !== false, `${noHelm}`);
    const base = byName(kustomized(cluster, `${kustomizeFolder}/base`));
    expect(Object.keys(base).length).toBeGreaterThan(6);
    expect(byName(templated())).toEqual(base);
    // The comparison sees a difference.
    expect(isDeepStrictEqual(byName(templated("persistence.size=9Gi")), base)).toBe(false);
  });

  test("makes the objects of replicas and of every component with its values", (context) => {
    context.skip(noHelm !== false, `${noHelm}`);
    using all = new Overlay("replicas", ["mirror", "admission", "monitoring", "openshift"]);
    const made = templated(
      ...["replicas=3", "journal.existingSecret=berth-journal", "fsGroup=null"],
      ...["rbac.mirror=true", "rbac.admission=true"],
      ...["monitoring.serviceMonitor=true", "monitoring.prometheusRule=true"],
      "monitoring.runbookUrl=https://berth.example.org/docs/runbook",
    );
    expect(byName(made)).toEqual(byName(kustomized(cluster, all.folder)));
  });

  test("links the alerts to the runbook that the server shows", (context) => {
    context.skip(noHelm !== false, `${noHelm}`);
    const linked = (...sets: string[]) =>
      JSON.stringify(templated("monitoring.prometheusRule=true", ...sets));
    expect(linked()).toContain('"http://berth.berth.svc:80/docs/runbook#berthdown"');
    const ingress = ["ingress.enabled=true", "ingress.host=berth.acme.test"];
    expect(linked(...ingress)).toContain('"http://berth.acme.test/docs/runbook#berthdown"');
  });

  test("passes a strict lint, and refuses values that make no sense", (context) => {
    context.skip(noHelm !== false, `${noHelm}`);
    expect(helm(["lint", "--strict", chartFolder])).toMatchObject({ status: 0 });
    const refusal = (...sets: string[]) => {
      const flags = sets.flatMap((each) => ["--set", each]);
      const { status, stderr } = helm(["template", "berth", chartFolder, ...flags]);
      return status === 0 ? "" : stderr;
    };
    expect(refusal("replica=3")).toContain("additional properties 'replica' not allowed");
    expect(refusal("replicas=3")).toContain("more than one server needs a journal in PostgreSQL");
    expect(refusal("ingress.enabled=true")).toContain("the ingress has no name");
    expect(refusal("service.type=Cluster")).toContain("/service/type");
    expect(refusal("persistence.size=big")).toContain("/persistence/size");
  });

  test("installs, upgrades to replicas and goes away", async (context) => {
    context.skip(noHelm !== false, `${noHelm}`);
    context.skip(!cluster.hasControllers, "they need an API server with Pod Security");
    const namespace = await cluster.namespace();
    kubectl(cluster, ["label", "ns", namespace, "pod-security.kubernetes.io/enforce=restricted"]);
    const env = {
      ...process.env,
      KUBECONFIG: cluster.adminConfig,
      HELM_CACHE_HOME: cluster.folder,
    };
    const run = (...args: string[]) => helm([...args, "-n", namespace], env);
    expect(run("install", "berth", chartFolder)).toMatchObject({ status: 0 });
    const more = ["replicas=3", "journal.existingSecret=j", "rbac.mirror=true"];
    const flags = [...more, "monitoring.serviceMonitor=true"].flatMap((each) => ["--set", each]);
    const tls = [
      "--set",
      "tls.existingSecret=t,ingress.enabled=true,ingress.host=berth.example.org",
    ];
    expect(run("upgrade", "berth", chartFolder, ...flags, ...tls)).toMatchObject({ status: 0 });
    const names = ["statefulset,pdb,netpol,ingress,servicemonitor,role", "-o", "name"];
    const listed = () =>
      kubectl(cluster, ["-n", namespace, "get", ...names])
        .stdout.split("\n")
        .sort();
    expect(listed()).toEqual(
      expect.arrayContaining(["statefulset.apps/berth", "poddisruptionbudget.policy/berth"]),
    );
    const set = kubectl(cluster, ["-n", namespace, "get", "statefulset/berth", "-o", "yaml"]);
    expect(manifestsIn(set.stdout)[0]?.["spec"]).toMatchObject({ replicas: 3 });
    expect(run("uninstall", "berth")).toMatchObject({ status: 0 });
    expect(listed()).toEqual([""]);
  });
});
