/**
 * Turns the Pool and Network manifests of the vSphere capacity manager into Berth's configuration, and
 * tells what is wrong with them: references that lead nowhere, address windows that overlap, types
 * that nobody could ask for.
 */
import { parseAllDocuments } from "yaml";
import { nearest } from "../core/model/nearest.ts";
import { parseRatio } from "../core/shared/placement/overcommit.ts";
import { networkPart, readNetwork, type VcmNetwork } from "./vcm-network.ts";

export interface ManifestFile {
  readonly file: string;
  readonly text: string;
}

export interface Finding {
  readonly file: string;
  readonly message: string;
}

export interface VcmImport {
  readonly config: { readonly pools: Record<string, object> };
  readonly findings: readonly Finding[];
  readonly resources: number;
  readonly networks: number;
}

interface Manifest {
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: unknown; readonly labels?: Record<string, unknown> };
  readonly spec?: Record<string, unknown>;
}

interface VcmPool {
  readonly file: string;
  readonly name: string;
  readonly pod: string;
  readonly portGroups: readonly string[];
  readonly member: Record<string, unknown>;
}

export function importVcm(files: readonly ManifestFile[]): VcmImport {
  const findings: Finding[] = [];
  const networks: VcmNetwork[] = [];
  const drafts: { file: string; manifest: Manifest }[] = [];
  for (const { file, text } of files) {
    for (const manifest of manifestsIn(file, text, findings)) {
      if (manifest.kind === "Pool") drafts.push({ file, manifest });
      else if (manifest.kind === "Network") networks.push(...readNetwork(file, manifest, findings));
      else if (manifest.kind !== "Lease") {
        findings.push({
          file,
          message: `${String(manifest.kind)} is neither a Pool nor a Network`,
        });
      }
    }
  }
  const pools = drafts.flatMap(({ file, manifest }) => readPool(file, manifest, findings));
  const used = link(pools, networks, findings);
  overlaps(networks, findings);
  const members = Object.fromEntries(
    pools.map((pool) => [pool.name, { ...pool.member, ...partsOf(pool, networks) }]),
  );
  const kinds = kindsOf(networks.filter((network) => used.has(network)));
  const pool = { place: "least-used", lifetime: "24h", ...kinds, members };
  return {
    config: { pools: { vsphere: pool } },
    findings,
    resources: pools.length,
    networks: networks.length,
  };
}

function manifestsIn(file: string, text: string, findings: Finding[]): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) findings.push({ file, message: error.message.split("\n")[0] ?? "" });
    const value: unknown = error === undefined ? document.toJS() : null;
    return typeof value === "object" && value !== null ? [value as Manifest] : [];
  });
}

/**
 * The capacity of a dimension that is not counted, in GB. A capacity of 0 would refuse every request
 * that names the dimension.
 */
const uncounted = 1_000_000_000;

const known = ["vcpus", "memory", "storage", "topology", "server", "region", "zone", "name"];
const others = ["shortName", "exclude", "noSchedule", "overCommitRatio", "taints", "ibmPoolSpec"];

function readPool(file: string, { metadata, spec = {} }: Manifest, findings: Finding[]): VcmPool[] {
  const tell = (message: string) => findings.push({ file, message });
  const name = String(metadata?.name ?? "");
  const topology = record(spec["topology"]);
  if (name === "" || Object.keys(topology).length === 0) {
    tell(`the Pool ${name === "" ? "has no name" : `${name} has no topology`}, so it is left out`);
    return [];
  }
  for (const key of Object.keys(spec)) {
    if ([...known, ...others].includes(key)) continue;
    const meant = nearest(key, [...known, ...others]);
    tell(`the Pool ${name} has ${key}${meant === undefined ? "" : `; ${meant} is meant?`}`);
  }
  const ratio = String(spec["overCommitRatio"] ?? "1.0");
  if (parseRatio(ratio) === undefined) tell(`the ratio ${ratio} of ${name} is none; 1.0 is used`);
  const taints = Array.isArray(spec["taints"]) ? spec["taints"] : [];
  const overcommits = parseRatio(ratio) !== undefined && Number(ratio) !== 1;
  const networks = Array.isArray(topology["networks"]) ? topology["networks"] : [];
  const amount = (key: string) => Number(spec[key] ?? 0);
  const storage = amount("storage");
  if (storage === 0) {
    tell(
      `the Pool ${name} has no storage, which means that storage is not counted; ` +
        `it gets storage: ${uncounted}, so that every request fits`,
    );
  }
  if (spec["noSchedule"] === true) tell(`the Pool ${name} is cordoned: run berth drain ${name}`);
  return [
    {
      file,
      name,
      pod: String(record(spec["ibmPoolSpec"])["pod"] ?? ""),
      portGroups: networks.map((path) => String(path).split("/").at(-1) ?? ""),
      member: {
        capacity: {
          vcpus: amount("vcpus"),
          memory: amount("memory"),
          storage: storage === 0 ? uncounted : storage,
        },
        ...(overcommits ? { overcommit: { vcpus: ratio } } : undefined),
        labels: labelsOf(spec, topology, metadata?.labels ?? {}),
        ...(taints.length === 0 ? undefined : { taints }),
        ...(spec["exclude"] === true ? { excluded: true } : undefined),
      },
    },
  ];
}

function labelsOf(
  spec: Record<string, unknown>,
  topology: Record<string, unknown>,
  own: Record<string, unknown>,
): Record<string, string> {
  const facts = {
    vcenter: spec["server"],
    datacenter: String(topology["datacenter"] ?? "").replace(/^\//, ""),
    cluster: topology["computeCluster"],
    datastore: topology["datastore"],
    region: spec["region"],
    zone: spec["zone"],
    shortName: spec["shortName"],
  };
  const entries = Object.entries({ ...facts, ...own }).filter(([, value]) => Boolean(value));
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A pool has a network when its last path segment is the port group, and the pods are the same. */
function link(pools: readonly VcmPool[], networks: readonly VcmNetwork[], findings: Finding[]) {
  const used = new Set<VcmNetwork>();
  for (const pool of pools) {
    const missing = pool.portGroups.filter((portGroup) => {
      const found = networks.filter((one) => one.portGroup === portGroup && one.pod === pool.pod);
      for (const network of found) used.add(network);
      if (found.length > 1) {
        const names = found.map(({ name }) => name).join(" and ");
        findings.push({
          file: pool.file,
          message: `${names} are both ${portGroup} in ${pool.pod}`,
        });
      }
      return found.length === 0;
    });
    if (missing.length === 0) continue;
    const few = missing.slice(0, 5).join(", ");
    const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
    const message = `the Pool ${pool.name} has port groups that are no Network: ${few}${more}`;
    findings.push({ file: pool.file, message });
  }
  for (const network of networks) {
    if (used.has(network)) continue;
    findings.push({ file: network.file, message: `no Pool has the Network ${network.name}` });
  }
  return used;
}

function partsOf({ portGroups, pod }: VcmPool, networks: readonly VcmNetwork[]) {
  const kinds: Record<string, string[]> = {};
  for (const portGroup of portGroups) {
    const network = networks.find((one) => one.portGroup === portGroup && one.pod === pod);
    if (network === undefined) continue;
    kinds[network.kind] = [...(kinds[network.kind] ?? []), network.name];
  }
  return Object.keys(kinds).length === 0 ? undefined : { parts: kinds };
}

function kindsOf(networks: readonly VcmNetwork[]) {
  const parts: Record<string, { apart: string; members: Record<string, object> }> = {};
  for (const network of networks) {
    const kind = parts[network.kind] ?? { apart: "vlan", members: {} };
    kind.members[network.name] = networkPart(network);
    parts[network.kind] = kind;
  }
  return networks.length === 0 ? undefined : { parts };
}

function overlaps(networks: readonly VcmNetwork[], findings: Finding[]): void {
  const owners = new Map<string, VcmNetwork>();
  const told = new Set<string>();
  for (const network of networks) {
    for (const address of network.addresses) {
      const key = `${network.pod} ${address}`;
      const other = owners.get(key) ?? network;
      owners.set(key, other);
      const pair = `${other.name} ${network.name}`;
      if (other === network || told.has(pair)) continue;
      told.add(pair);
      const message = `the Networks ${other.name} and ${network.name} overlap, first at ${address}`;
      findings.push({ file: network.file, message });
    }
  }
}
