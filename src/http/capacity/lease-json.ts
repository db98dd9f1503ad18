/** Leases and pools as the early capacity API wrote them, key by key. */
import type { SharedResourceView } from "../../core/explain/resource-view.ts";
import type { ClaimView, LeaseView, PartView } from "../../core/explain/view.ts";
import { goTime } from "./go-time.ts";

/** The kind of parts that this API calls networks and port groups. */
export const networksKind = "networks";

/** A lease here is one claim: what was granted at once may be given back one by one. */
export function leaseJson(lease: LeaseView, claim: ClaimView, startedAtMs: number): object {
  const { amount, parts } = claim;
  const { vcpus = 0, memory = 0, storage = 0 } = amount ?? {};
  const labels = lease.labels ?? {};
  const empty = { creationTimestamp: null };
  return {
    spec: { vcpus, memory, storage, vcenters: 0 },
    status: {
      resources: [
        {
          spec: { vcpus, memory, storage, vcenters: Number(labels["capacity/vcenters"] ?? 0) },
          status: { vcpus: 0, memory: 0, storage: 0, pool: "", lease: "" },
          metadata: empty,
          type: {},
        },
      ],
      "leased-at": goTime(lease.grantedAt, startedAtMs),
      "boskos-lease-id": labels["capacity/boskos-lease-id"] ?? "",
      pool: claim.resource,
      ...(parts.length === 0 ? undefined : { "port-groups": parts.map(portGroup) }),
    },
    metadata: { name: `${lease.id}.${claim.id}`, ...empty },
    type: {},
  };
}

function portGroup({ name, attributes }: PartView): object {
  return { name, ...attributes };
}

export function poolJson(resource: SharedResourceView, startedAtMs: number): object {
  const { vcpus = 0, memory = 0, storage = 0 } = resource.capacity;
  const { vcenter = "", datacenter = "", cluster = "", datastore = "" } = resource.labels;
  const networks = resource.parts.get(networksKind) ?? null;
  const usage = (wanted: string) =>
    resource.usage.find(({ dimension }) => dimension === wanted)?.share ?? 0;
  const leases = resource.claims.map(({ lease, claim }) => leaseJson(lease, claim, startedAtMs));
  return {
    spec: {
      ...{ vcpus, memory, storage, vcenters: 0 },
      ...{ name: resource.name, vcenter, datacenter, cluster, datastore, networks },
    },
    status: {
      "vcpus-usage": usage("vcpus"),
      "memory-usage": usage("memory"),
      "datastore-usage": usage("storage"),
      leases: leases.length === 0 ? null : leases,
      "network-usage": 0,
    },
  };
}
