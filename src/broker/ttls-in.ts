import { holderTtlOf, pollTtlOf } from "../core/apply/leases.ts";
import type { RequestId } from "../core/model/ids.ts";
import type { State } from "../core/model/state.ts";

/** The ttls of all holders and waiting requests, or of one of them. */
export function* ttlsIn({ leases, requests }: State, id?: RequestId): Iterable<number> {
  if (id === undefined) {
    for (const lease of leases.values()) yield holderTtlOf(lease);
    for (const request of requests.values()) yield pollTtlOf(request);
    return;
  }
  const lease = leases.get(id);
  const request = requests.get(id);
  if (lease !== undefined) yield holderTtlOf(lease);
  if (request !== undefined) yield pollTtlOf(request);
}
