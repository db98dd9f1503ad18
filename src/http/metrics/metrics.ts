import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import {
  grantDelay,
  oldestQueuedAt,
  paceInterval,
  placementView,
  sharedLimit,
  stuckIn,
} from "../../core/explain/pool-view.ts";
import { rateOf } from "../../core/gates/rate.ts";
import { countedStates } from "../../core/model/lifecycle.ts";
import type { Pool, State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import type { Context } from "../context.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { clusterMetrics } from "./cluster-metrics.ts";
import { etaMetrics } from "./eta-metrics.ts";
import { floodMetrics } from "./flood-metrics.ts";
import { hubMetrics } from "./hub-metrics.ts";
import { LeaseMetrics } from "./lease-metrics.ts";
import { mirrorMetrics } from "./mirror-metrics.ts";
import { replicaMetrics } from "./replica-metrics.ts";

export type MetricsSource = Pick<
  Context,
  | "admission"
  | "auth"
  | "broker"
  | "clockAheadMs"
  | "configStatus"
  | "insight"
  | "mirror"
  | "peers"
  | "version"
> &
  Partial<Pick<Context, "templates">>;

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
  etaMetrics(source.insight, registry);
  floodMetrics(source, registry);
  admissionMetrics(() => source.admission?.(), registry);
  mirrorMetrics(() => source.mirror?.(), registry);
  replicaMetrics(source.peers, registry);
  clusterMetrics(source, registry);
  hubMetrics(source, registry);
  return registry;
}

type Sample = (
  name: string,
  help: string,
  labelNames: string[],
  read: (gauge: Gauge, state: State, now: Instant) => void,
) => void;

/** Only pools with a pace or a limit, which most do not have, are shown. */
function sampleFlow(sample: Sample): void {
  const each = (
    name: string,
    help: string,
    read: (pool: Pool, now: Instant) => number | null | undefined,
  ) =>
    sample(name, help, ["pool"], (gauge, state, now) => {
      for (const pool of state.pools.values()) {
        const value = read(pool, now);
        if (value !== null && value !== undefined) gauge.set({ pool: pool.name }, value);
      }
    });
  each("berth_pace_interval_seconds", "Between two grants", (pool) => {
    return seconds(paceInterval(pool));
  });
  each(
    "berth_pace_next_grant_seconds",
    "Until the paces of the pool and of all above it, and other gates that open at a known time, " +
      "allow the next grant; 0: they are open",
    (pool, now) => seconds(grantDelay(pool, now)),
  );
  each(
    "berth_pool_suspended",
    "1 while a decision on the pool failed and nothing is lent",
    (pool) => (pool.suspended === null ? 0 : 1),
  );
  each("berth_limit_rate", "Starts per minute that reports or an operator allow", rateOf);
  each("berth_limit_pinned", "1 while an operator holds the rate", ({ pin, adaptive }) =>
    pin !== null ? 1 : adaptive !== null ? 0 : null,
  );
  each(
    "berth_limit_used",
    "Held of the pool and of all pools below it",
    (pool) => sharedLimit(pool)?.used,
  );
  each(
    "berth_limit_max",
    "How many may be held of the pool and of all pools below it",
    (pool) => sharedLimit(pool)?.limit,
  );
  sample("berth_limit_reports", "What holders reported", ["pool", "report"], (gauge, state) => {
    for (const { name: pool, signals } of state.pools.values()) {
      if (signals.throttled + signals.ok === 0) continue;
      gauge.set({ pool, report: "throttled" }, signals.throttled);
      gauge.set({ pool, report: "ok" }, signals.ok);
    }
  });
}

function seconds(durationMs: number | null): number | null {
  return durationMs === null ? null : durationMs / 1_000;
}

/** By pool and not by resource: a thousand resources of four dimensions would be as many series. */
function sampleUsage(sample: Sample): void {
  const each = (name: string, help: string, key: "used" | "capacity") =>
    sample(name, help, ["pool", "dimension"], (gauge, state) => {
      for (const pool of state.pools.values()) {
        for (const usage of placementView(pool)?.usage ?? []) {
          gauge.set({ pool: pool.name, dimension: usage.dimension }, usage[key]);
        }
      }
    });
  each("berth_capacity", "What all resources have of a dimension, with overcommit", "capacity");
  each("berth_capacity_used", "What is lent of a dimension", "used");
}

/** Each collects by itself: one that is set by another shows what was at the scrape before. */
function samplePools({ broker }: MetricsSource, registry: Registry): void {
  const sample: Sample = (name, help, labelNames, read) =>
    void new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        return broker.read((state, now) => read(this, state, now));
      },
    });
  sample("berth_resources", "Resources by pool and state", ["pool", "state"], (gauge, state) => {
    for (const { name: pool, shown } of state.pools.values()) {
      for (const counted of countedStates) gauge.set({ pool, state: counted }, 0);
      for (const [resourceState, size] of shown) gauge.set({ pool, state: resourceState }, size);
    }
  });
  const stuck =
    "Resources that nobody took for an hour from a state other than free or quarantined";
  sample("berth_resources_stuck", stuck, ["pool"], (gauge, state, now) => {
    for (const pool of state.pools.values())
      gauge.set({ pool: pool.name }, stuckIn(pool, now).count);
  });
  sample("berth_waiters", "Requests that wait", ["pool"], (gauge, state) => {
    for (const { name: pool, waiting } of state.pools.values()) gauge.set({ pool }, waiting);
  });
  const age = "How long the oldest waiter has waited; 0 for none";
  sample("berth_oldest_waiter_seconds", age, ["pool"], (gauge, state, now) => {
    for (const pool of state.pools.values()) {
      gauge.set({ pool: pool.name }, (now - (oldestQueuedAt(pool) ?? now)) / 1_000);
    }
  });
  sampleFlow(sample);
  sampleUsage(sample);
  sample("berth_leases", "Leases held", [], (gauge, state) => gauge.set(state.leases.size));
}

function sampleServer(source: MetricsSource, registry: Registry): void {
  const { broker, configStatus, clockAheadMs } = source;
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
    "berth_clock_ahead_seconds",
    "How far the broker's time is ahead of the machine's clock; negative: behind it",
    () => (clockAheadMs?.() ?? 0) / 1_000,
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
