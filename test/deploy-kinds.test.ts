/**
 * What `deploy/` and `examples/ci` have for other projects: the Prometheus operator, Prow, Tekton. A real API
 * server checks it against the definitions of these projects, without storing it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { fetchedFolder } from "./kube-kinds.ts";
import { kubectl, kustomized, type Manifest, Overlay } from "./manifests.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
const folder = fetchedFolder();

const recipe = (name: string) =>
  parse(readFileSync(new URL(`../examples/ci/${name}`, import.meta.url), "utf8"));

/** What the API server finds wrong with an object; empty if it accepts every field. */
function refusal(object: object): string {
  const checks = ["--dry-run=server", "--validate=strict", "-n", "default", "-f", "-"];
  return kubectl(cluster, ["create", ...checks], JSON.stringify(object)).stderr;
}

interface Job {
  readonly name: string;
  readonly decoration_config: object;
  readonly spec: { readonly containers: readonly object[] };
}

/** The object that Prow makes of a presubmit. Go writes an empty name for a container without one. */
function prowJobOf({ name, decoration_config, spec }: Job): object {
  const refs = { org: "acme", repo: "shop", base_ref: "main" };
  const containers = spec.containers.map((each) => ({ name: "", ...each }));
  const job = { type: "presubmit", agent: "kubernetes", job: name, refs };
  return {
    ...{ apiVersion: "prow.k8s.io/v1", kind: "ProwJob", metadata: { name } },
    spec: { ...job, decoration_config, pod_spec: { ...spec, containers } },
  };
}

describe.skipIf(noKube)("the definitions of", { timeout: patienceMs }, () => {
  beforeEach((context) =>
    context.skip(
      folder === undefined || !cluster.hasControllers,
      "they need the definitions that scripts/kube-kinds fetches with Go",
    ),
  );

  test("the Prometheus operator accept the ServiceMonitor and the PrometheusRule", () => {
    using all = new Overlay("base", ["monitoring"]);
    const monitoring = kustomized(cluster, all.folder)
      .filter((one) => String(one["apiVersion"]).startsWith("monitoring.coreos.com/"))
      .map((one): Manifest => ({ ...one, metadata: { name: one.metadata.name } }));
    expect(monitoring.map(({ kind }) => kind).sort()).toEqual(["PrometheusRule", "ServiceMonitor"]);
    for (const one of monitoring) expect(refusal(one), one.kind).toBe("");
    for (const one of monitoring) {
      const spec = { ...(one["spec"] as object), colour: "red" };
      expect(refusal({ ...one, spec }), one.kind).toContain("colour");
    }
  });

  test("Prow accept the job of the recipe", () => {
    const [job] = recipe("prow.yaml").presubmits["acme/shop"] as readonly [Job];
    expect(refusal(prowJobOf(job))).toBe("");
    const [container] = job.spec.containers;
    const misspelt = { ...job.spec, containers: [{ ...container, commands: ["sh"] }] };
    expect(refusal(prowJobOf({ ...job, spec: misspelt }))).toContain("commands");
    const late = { ...job.decoration_config, grace: "1m" };
    expect(refusal(prowJobOf({ ...job, decoration_config: late }))).toContain("grace");
    // A presubmit itself is no object: its keys are those of Prow's own source.
    const source = readFileSync(join(folder ?? "", "sigs.k8s.io.prow", "config-jobs.go"), "utf8");
    const keys = new Set([...source.matchAll(/`json:"(\w+)/g)].map(([, key]) => key));
    expect(Object.keys(job).filter((key) => !keys.has(key))).toEqual([]);
    expect(keys).not.toContain("decorated");
  });

  test("Tekton accept the task of the recipe", () => {
    const task = recipe("tekton.yaml");
    expect(refusal(task)).toBe("");
    expect(refusal({ ...task, spec: { ...task.spec, step: [] } })).toContain("step");
  });
});
