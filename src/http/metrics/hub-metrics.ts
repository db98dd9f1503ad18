/** Hubs: what is on them, what they may have, and whether they answer. */
import { Gauge, type Registry } from "prom-client";
import { type HubView, hubView } from "../../core/explain/hub-view.ts";
import { hubStates } from "../../core/model/hub.ts";
import type { Context } from "../context.ts";

type Set = (labels: Readonly<Record<string, string>>, value: number) => void;

export function hubMetrics({ broker }: Pick<Context, "broker">, registry: Registry): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    read: (hub: HubView, set: Set) => void,
  ) =>
    new Gauge({
      ...{ name, help, labelNames: ["hub", ...labelNames], registers: [registry] },
      async collect() {
        this.reset();
        await broker.read(({ hubs }, now) => {
          for (const one of hubs.values()) {
            const view = hubView(one, now);
            read(view, (labels, value) => this.set({ hub: view.name, ...labels }, value));
          }
        });
      },
    });
  gauge("berth_hub_clusters", "Clusters on a hub", ["kind"], ({ counts }, set) => {
    const { lent, stock, inFlight } = counts;
    for (const [kind, count] of Object.entries({ lent, stock, in_flight: inFlight })) {
      set({ kind }, count);
    }
  });
  gauge("berth_hub_limit", "Clusters that a hub may have; absent: no limit", [], (hub, set) => {
    if (hub.limit !== null) set({}, hub.limit);
  });
  gauge("berth_hub_state", "1 for the state that is set", ["state"], (hub, set) => {
    for (const state of hubStates) set({ state }, hub.setState === state ? 1 : 0);
  });
  gauge("berth_hub_reachable", "Whether the last probe has answered", [], (hub, set) => {
    set({}, hub.outage === null && hub.isProbed ? 1 : 0);
  });
  gauge("berth_hub_failed_creations", "Of the last 20 creations", [], (hub, set) => {
    set({}, hub.failures.recent);
  });
}
