/** What `deploy/` brings into a cluster, rendered by the real programs. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import type { KubeCluster } from "./kube-cluster.ts";
import { output, type Ran, ran } from "./programs.ts";

export const kustomizeFolder = fileURLToPath(new URL("../deploy/kubernetes", import.meta.url));
export const chartFolder = fileURLToPath(new URL("../deploy/helm/berth", import.meta.url));

export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

export interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly image: string;
}

export interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string }[];
}

export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((each) => each !== null);
}

export function kubectl(cluster: KubeCluster, args: readonly string[], input?: string): Ran {
  const options = input === undefined ? {} : { input };
  return ran(
    join(cluster.binaries, "kubectl"),
    ["--kubeconfig", cluster.adminConfig, ...args],
    options,
  );
}

export function kustomized(cluster: KubeCluster, folder: string): Manifest[] {
  return manifestsIn(output(join(cluster.binaries, "kubectl"), ["kustomize", folder]));
}

/** A kustomization of a user: `resource`, with components of `deploy/kubernetes`. */
export class Overlay implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "berth-overlay-test-"));

  constructor(resource: string, components: readonly string[], more: object = {}) {
    const from = (name: string) => relative(this.folder, join(kustomizeFolder, name));
    const content = {
      resources: [from(resource)],
      components: components.map((each) => from(join("components", each))),
      ...more,
    };
    writeFileSync(join(this.folder, "kustomization.yaml"), JSON.stringify(content));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const script = fileURLToPath(new URL("../scripts/helm-program", import.meta.url));
const found = spawnSync(script, ["--find"], { encoding: "utf8" });

/** Why tests of the chart cannot run; false if they can. For `context.skip`. */
export const noHelm =
  found.status !== 0 &&
  process.env["BERTH_HELM_TESTS"] !== "required" &&
  "they need Helm, which scripts/helm-program builds";

export function helm(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Ran {
  return ran(found.stdout.trim(), args, { env });
}

export function templated(...sets: readonly string[]): Manifest[] {
  const flags = sets.flatMap((each) => ["--set", each]);
  const { status, stdout, stderr } = helm([
    "template",
    "berth",
    chartFolder,
    "-n",
    "berth",
    ...flags,
  ]);
  if (status !== 0) throw new Error(stderr);
  return manifestsIn(stdout);
}

/** What each of its pods is made from. */
export function podTemplateOf(manifests: readonly Manifest[]): {
  readonly metadata: object;
  readonly spec: PodSpec;
} {
  const set = manifests.find(({ kind }) => kind === "StatefulSet");
  if (set === undefined) throw new Error("There is no stateful set");
  return (set["spec"] as { template: { metadata: object; spec: PodSpec } }).template;
}
