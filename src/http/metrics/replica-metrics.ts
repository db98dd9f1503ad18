import { Gauge, type Registry } from "prom-client";
import type { Peers } from "../relay/peers.ts";

/** Nothing is shown of a server that is alone on its journal. */
export function replicaMetrics(peers: Peers | undefined, registry: Registry): void {
  if (peers === undefined) return;
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge("berth_replica_leads", "1 if this server leads", () => (peers.isLeading ? 1 : 0));
  gauge("berth_replica_epoch", "Grows with every change of the leader", () => {
    return peers.standing?.epoch ?? 0;
  });
  gauge("berth_replica_stale_seconds", "For how long this server may have missed a commit", () => {
    // Before its first look at the journal it knows nothing.
    return Number.isFinite(peers.staleMs) ? peers.staleMs / 1_000 : Number.NaN;
  });
  gauge("berth_replica_notified", "0 while this server hears of commits only by polling", () => {
    return peers.isLeading || peers.isNotified ? 1 : 0;
  });
}
