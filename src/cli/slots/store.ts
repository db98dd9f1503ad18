import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import { namespaceOf, type PlaceFlags } from "./flags.ts";

/** Loaded when the command line is known to be good: the package behind it is a large one. */
export async function leaseStoreOf(flags: PlaceFlags): Promise<LeaseStore> {
  const [{ ApiServer }, { LeaseStore }] = await Promise.all([
    import("../../kubernetes/api-server.ts"),
    import("../../kubernetes/lease-store.ts"),
  ]);
  return new LeaseStore(await ApiServer.connect(flags), namespaceOf(flags));
}
