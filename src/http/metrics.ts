import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { LeaseMetrics } from "./lease-metrics.ts";
import { oldestQueuedAt } from "./render.ts";
import type { Site } from "./site.ts";

export type MetricsSource = Pick<Site, "broker" | "configStatus" | "version">;

/** Everything under `berth_`, in base units. Labels are pools, states and reasons, never holders. */
export function makeMetrics(source: MetricsSource): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "berth_" });
  const info = new Gauge({
    name: "berth_build_info",
    help: "Always 1",
    labelNames: ["version"],
    registers: [registry],
  });
  info.set({ version: source.version }, 1);
  new LeaseMetrics(source.broker, registry);
  samplePools(source, registry);
  sampleServer(source, registry);
  return registry;
}

function samplePools({ broker }: MetricsSource, registry: Registry): void {
  const registers = [registry];
  const byPool = { labelNames: ["pool"] as const, registers };
  const waiters = new Gauge({ name: "berth_waiters", help: "Requests that wait", ...byPool });
  const oldest = new Gauge({
    name: "berth_oldest_waiter_seconds",
    help: "How long the oldest waiter has waited; 0 for none",
    ...byPool,
  });
  const leases = new Gauge({ name: "berth_leases", help: "Leases held", registers });
  new Gauge({
    name: "berth_resources",
    help: "Resources by pool and state",
    labelNames: ["pool", "state"],
    registers,
    async collect() {
      await broker.look((state, now) => {
        for (const gauge of [this, waiters, oldest]) gauge.reset();
        leases.set(state.leases.size);
        for (const pool of state.pools.values()) {
          for (const [shown, size] of pool.shown) this.set({ pool: pool.name, state: shown }, size);
          waiters.set({ pool: pool.name }, pool.queue.size);
          oldest.set({ pool: pool.name }, (now - (oldestQueuedAt(pool) ?? now)) / 1_000);
        }
      });
    },
  });
}

function sampleServer({ broker, configStatus }: MetricsSource, registry: Registry): void {
  const sample = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  sample("berth_open_waits", "Long polls that are open", () => broker.openWaits);
  sample("berth_journal_head", "Number of the last event", () => broker.head);
  sample("berth_journal_writable", "0 while the journal cannot be written", () =>
    broker.unwritable === null ? 1 : 0,
  );
  sample(
    "berth_config_reload_ok",
    "0 while the file is refused and an older one is in force",
    () => (configStatus().ok ? 1 : 0),
  );
  sample(
    "berth_config_in_force_timestamp_seconds",
    "Since when the configuration is in force",
    () => Date.parse(configStatus().inForceSince) / 1_000,
  );
}
