/** One Network manifest of the vSphere capacity manager. */
import { nearest } from "../core/model/nearest.ts";
import type { Finding } from "./import-vcm.ts";

export interface VcmNetwork {
  readonly file: string;
  readonly name: string;
  readonly portGroup: string;
  readonly pod: string;
  /** The kind of parts that it is here: requests ask for a number of it. */
  readonly kind: string;
  readonly addresses: readonly string[];
  readonly spec: Readonly<Record<string, unknown>>;
}

const typeLabel = "vsphere-capacity-manager.splat-team.io/network-type";

/** Those that nobody shares are plain networks, as the early API asks for them. */
const kinds: Readonly<Record<string, string>> = {
  "single-tenant": "networks",
  "multi-tenant": "multi-tenant",
  "nested-multi-tenant": "nested-multi-tenant",
  "public-ipv6": "public-ipv6",
};

interface NetworkManifest {
  readonly metadata?: { readonly name?: unknown; readonly labels?: Record<string, unknown> };
  readonly spec?: Record<string, unknown>;
}

export function readNetwork(
  file: string,
  { metadata, spec = {} }: NetworkManifest,
  findings: Finding[],
): VcmNetwork[] {
  const name = String(metadata?.name ?? "");
  const [portGroup, vlan] = [spec["portGroupName"], spec["vlanId"]];
  if (name === "" || typeof portGroup !== "string" || vlan === undefined) {
    const message = `the Network ${name} has no name, portGroupName or vlanId, so it is left out`;
    findings.push({ file, message });
    return [];
  }
  const type = String(metadata?.labels?.[typeLabel] ?? "single-tenant");
  const kind = kinds[type === "" ? "single-tenant" : type];
  if (kind === undefined) {
    const meant = nearest(type, Object.keys(kinds));
    const hint = meant === undefined ? "" : `; ${meant} is meant?`;
    const message = `the Network ${name} has the type ${type}, which no lease can ask for${hint}`;
    findings.push({ file, message });
    return [];
  }
  const listed = Array.isArray(spec["ipAddresses"]) ? spec["ipAddresses"].map(String) : [];
  const pod = String(spec["podName"] ?? "");
  return [{ file, name, portGroup, pod, kind, addresses: listed, spec }];
}

/** What its holder gets: everything, and the VLAN that no claim gets twice. */
export function networkPart({ spec }: VcmNetwork): Record<string, unknown> {
  const vlan = `${String(spec["datacenterName"] ?? "")}/${String(spec["vlanId"])}`;
  const facts = Object.entries(spec).filter(([, value]) => isAttribute(value));
  return { vlan, ...Object.fromEntries(facts) };
}

function isAttribute(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}
