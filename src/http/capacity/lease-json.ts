/** Leases and pools as the early capacity API wrote them, key by key. */
import { sharedIn } from "../../core/explain/explain-capacity.ts";
import type { Claim, SharedResource, State } from "../../core/model/state.ts";
import { type Part, usageOf } from "../../core/shared/placement/shareable.ts";
import { goTime } from "./go-time.ts";

/** The kind of parts that this API calls networks and port groups. */
export const networksKind = "networks";

/** Names one claim: what was granted at once may be given back one by one. */
export function leaseName({ lease, id }: Claim): string {
  return `${lease.id}.${id}`;
}

export function leaseJson(claim: Claim, startedAtMs: number): object {
  const { lease, resource, amount, parts } = claim;
  const { vcpus = 0, memory = 0, storage = 0 } = amount ?? {};
  const labels = lease.ask.labels ?? {};
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
      pool: resource.name,
      ...(parts.length === 0 ? undefined : { "port-groups": parts.map(portGroup) }),
    },
    metadata: { name: leaseName(claim), ...empty },
    type: {},
  };
}

function portGroup({ name, attributes }: Part): object {
  return { name, ...attributes };
}

export function poolJson(resource: SharedResource, startedAtMs: number): object {
  const { spec, levels, parts, claims } = resource;
  const { vcpus = 0, memory = 0, storage = 0 } = spec.capacity;
  const { vcenter = "", datacenter = "", cluster = "", datastore = "" } = resource.labels;
  const networks = parts.get(networksKind)?.map(({ name }) => name) ?? null;
  const usage = (dimension: string) => {
    const level = levels.find(({ name }) => name === dimension);
    return level === undefined ? 0 : usageOf(level);
  };
  const leases = [...claims].map((claim) => leaseJson(claim, startedAtMs));
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

/** Every resource that is lent by amount, in the order of the configuration. */
export function allRooms(state: State): SharedResource[] {
  return [...state.pools.values()].flatMap((pool) => sharedIn(pool));
}
