import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { loadConfig } from "./load.ts";
import { referencesOf } from "./revision.ts";

const place = (name: string) => `$${`{${name}}`}`;
const cluster = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: "${place("name")}" }
`;

describe("templates of drivers on a hub", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-hubs-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const load = async (template: string, manifest = cluster, pool = "max: 9") => {
    const file = join(folder, "berth.yaml");
    await writeFile(join(folder, "m.yaml"), manifest);
    await writeFile(
      file,
      `templates: { t: { ${template} } }\npools: { p: { template: t, ${pool} } }\n`,
    );
    return loadConfig(file);
  };
  const template = async (text: string, manifest?: string) => {
    const loaded = await load(text, manifest);
    if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join("\n"));
    const [found] = loaded.templates;
    if (found === undefined) throw new Error("There is no template");
    return found;
  };
  const capi = "driver: cluster-api, namespace: clusters, manifest: m.yaml";

  test("have the objects of their manifest, and another revision when it changes", async () => {
    const first = await template(capi);
    expect(first).toMatchObject({
      how: {
        ...{ driver: "cluster-api", namespace: "clusters", broker: "berth" },
        objects: [{ kind: "Cluster" }],
      },
      hibernates: false,
    });
    expect(referencesOf(first).files).toEqual([join(folder, "m.yaml")]);
    const second = await template(capi, `${cluster}spec: { paused: true }\n`);
    expect(second.revision).not.toBe(first.revision);
    expect((await template(capi)).revision).toBe(first.revision);
  });

  test("hibernate with Hive, unless they say otherwise", async () => {
    const claims = "driver: hive, namespace: pools, pools: { product: ocp }, expiry: 2d";
    expect(await template(claims)).toMatchObject({
      how: { driver: "hive", pools: { product: "ocp" }, expiryMs: 172_800_000 },
      hibernates: true,
    });
    expect((await template(`${claims}, hibernates: false`)).hibernates).toBe(false);
  });

  test("may have a program that looks for what is left", async () => {
    const { verify } = await template(`${capi}, verify: [/bin/true, --all]`);
    expect(verify).toEqual({ command: ["/bin/true", "--all"], folder });
  });

  test("name every place without a value, with its line and where to add it", async () => {
    const spec = `# ${place("parameters.zone")} is not a place here.
spec:
  region: ${place("parameters.region")}
  install: |
    # ${place("name")}
    pull: ${place("credentials.pull")}
  version: ${place("parameters.version")}
  zone: $${place("parameters.none")} ${place("parameters.zone")} ${place("parameters.region")}
`;
    const version = "parameters: { version: {}, zones: {} }, credentials: { aws: { env: PATH } }";
    const loaded = await load(`${capi}, ${version}`, cluster + spec);
    const problems = loaded.ok ? [] : loaded.problems.map(({ message, hint }) => [message, hint]);
    const state = (name: string, line: number) =>
      `Cannot read templates.t.manifest: the template has nothing for ${place(name)} in line ${line} of m.yaml`;
    const add = (name: string) => `add ${name} to parameters or pinned of the template`;
    expect(problems).toEqual([
      [state("parameters.region", 6), add("region")],
      [state("credentials.pull", 9), "add pull to credentials of the template"],
      [state("parameters.zone", 11), `${add("zone")}, or write ${place("parameters.zones")}`],
    ]);
  });

  test.each([
    ["lifetime: 4h", "pools.p.lifetime: ", "so a lease of 4h can lose its cluster"],
    ["max: 1", "pools.p.template: ", "so a lease without a lifetime can lose its cluster"],
  ])("warn of claims that end before a lease (%s)", async (pool, at, want) => {
    const claims = "driver: hive, namespace: pools, pools: { product: ocp }, expiry: 3h";
    const warnings = async (template: string, more: string) => {
      const loaded = await load(template, cluster, more);
      return loaded.ok ? loaded.warnings.map(formatWarning) : ["bad"];
    };
    const [first = "", ...others] = await warnings(claims, pool);
    expect(first).toContain(
      `${at}Hive deletes clusters of the template "t" after 3h, its expiry, `,
    );
    expect(first).toContain(`${want} (write lifetime: 3h or less, or a longer expiry)`);
    expect(others).toEqual([]);
    expect(await warnings(claims, "lifetime: 3h")).toEqual([]);
    expect(await warnings(`${capi}, expiry: 3h`, pool)).toEqual([]);
  });

  const named = (name: string, more = "") =>
    `${cluster}---\napiVersion: v1\nkind: Secret\nmetadata: { name: "${name}"${more} }\n`;

  test.each([
    ["no namespace", "driver: hypershift, manifest: m.yaml", cluster, "it has no namespace"],
    ["no manifest", "driver: cluster-api, namespace: c", cluster, "it has no manifest"],
    ["nothing to make", "driver: hive", cluster, "it makes nothing (write pools:"],
    [
      "two ways to make it",
      "driver: hive, namespace: c, pools: { a: b }, manifest: m.yaml",
      ...[cluster, "it has pools and a manifest"],
    ],
    ["no template", "driver: caas, namespace: c", cluster, "it has no clusterTemplate"],
    [
      "a key of other drivers",
      "driver: caas, namespace: c, clusterTemplate: x, manifest: m.yaml",
      ...[cluster, "only the drivers hive, hypershift and cluster-api have it"],
    ],
    [
      "a namespace where each cluster has its own",
      "driver: hive, namespace: c, manifest: m.yaml",
      ...[cluster, "each ClusterDeployment gets a namespace of its own"],
    ],
    [
      "a missing file",
      capi.replace("m.yaml", "no.yaml"),
      cluster,
      'no.yaml" cannot be read: there is no such file (check the path, or create the file; a path',
    ],
    ["bad YAML", capi, "a: [", 'm.yaml" is not YAML: Flow sequence'],
    [
      "another main object",
      capi,
      cluster.replace("Cluster\n", "Clusters\n"),
      "it has 0 objects of kind Cluster",
    ],
    [
      "another name",
      "driver: hive, manifest: m.yaml",
      cluster.replace("Cluster\n", "ClusterDeployment\n").replace(place("name"), "one"),
      "the name of its ClusterDeployment is another",
    ],
    [
      "an object without a name",
      capi,
      `${cluster}---\nkind: Secret\n`,
      "without apiVersion, kind or metadata.name",
    ],
    ["a shared object", capi, named("pull"), 'Secret "pull" would be the same for all clusters'],
    ["a namespace in an object", capi, named(place("name"), ", namespace: x"), "has a namespace"],
    [
      "a place that has no value",
      `${capi}, parameters: { version: { type: string } }`,
      `${cluster}spec: { v: "${place("parameters.verson")}" }\n`,
      `nothing for ${place("parameters.verson")} in line 4 of m.yaml (add verson to parameters or ` +
        `pinned of the template, or write ${place("parameters.version")})`,
    ],
    [
      "a place that is none",
      capi,
      `${cluster}spec: { v: "${place("HOME")}" }\n`,
      `or $${place("HOME")} for the text itself)`,
    ],
    [
      "clusters that would stay",
      "driver: hive, manifest: m.yaml",
      cluster.replace("Cluster\n", "ClusterDeployment\nspec: { preserveOnDelete: true }\n"),
      "preserveOnDelete would leave every cluster in its cloud",
    ],
  ])("refuse %s", async (_, text, manifest, want) => {
    const loaded = await load(text, manifest);
    const problems = loaded.ok ? [] : loaded.problems.map(formatProblem);
    expect(problems.join("\n")).toContain(want);
    // The template is there, so what uses it has no problem of its own.
    expect(problems.join("\n")).not.toContain("pools.p");
  });
});
