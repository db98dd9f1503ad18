import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import { type KubeFlags, namespaceOf } from "./flags.ts";

/** Loads the Kubernetes package on demand, because it is large. */
export async function leaseStoreOf(flags: KubeFlags): Promise<LeaseStore> {
  const [{ ApiServer }, { LeaseStore }] = await Promise.all([
    import("../../kubernetes/api-server.ts"),
    import("../../kubernetes/lease-store.ts"),
  ]);
  return new LeaseStore(await ApiServer.connect(flags), namespaceOf(flags));
}
