import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ConfigStatus } from "../api/schemas.ts";
import type { Broker } from "../broker/broker.ts";
import type { Waits } from "../broker/waits.ts";
import type { DurableEvent } from "../core/event.ts";
import type { State } from "../core/state.ts";
import type { Instant } from "../core/time.ts";
import type { Recorded } from "../journal/journal.ts";
import { oldestQueuedAt } from "./render.ts";

/** From an instant to a day: queues here are measured in hours. */
const waitBuckets = [
  0.1, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600, 86_400,
];

export interface MetricsSource {
  readonly broker: Broker;
  readonly waits: Waits;
  readonly configStatus: () => ConfigStatus;
  readonly version: string;
}

/** Everything under `berth_`, in base units. Labels are pools, states and reasons, never holders. */
export function makeMetrics(source: MetricsSource): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "berth_" });
  const register = { registers: [registry] };
  const info = new Gauge({
    name: "berth_build_info",
    help: "Always 1",
    labelNames: ["version"],
    ...register,
  });
  info.set({ version: source.version }, 1);
  followCommits(source.broker, register);
  sampleState(source, register);
  return registry;
}

type Register = { readonly registers: Registry[] };

function followCommits(broker: Broker, register: Register): void {
  const pool = { labelNames: ["pool"], ...register } as const;
  const grants = new Counter({ name: "berth_grants_total", help: "Claims granted", ...pool });
  const waited = new Histogram({
    name: "berth_wait_seconds",
    help: "From asking to the grant",
    buckets: waitBuckets,
    ...pool,
  });
  const held = new Histogram({
    name: "berth_hold_seconds",
    help: "From the grant to giving back",
    buckets: waitBuckets,
    ...pool,
  });
  const ends = new Counter({
    name: "berth_leases_ended_total",
    help: "Leases by how they ended",
    labelNames: ["reason"],
    ...register,
  });
  const expiries = new Counter({
    name: "berth_expiries_total",
    help: "Claims taken back because their holder vanished",
    ...pool,
  });
  const left = new Counter({
    name: "berth_requests_left_total",
    help: "Requests that left the queue without a grant",
    labelNames: ["reason"],
    ...register,
  });
  const commits = new Counter({
    name: "berth_journal_commits_total",
    help: "Durable commits",
    ...register,
  });
  const batch = new Histogram({
    name: "berth_journal_batch_events",
    help: "Events per commit",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024, 4_096],
    ...register,
  });
  const granted = new Map<string, { readonly pools: readonly string[]; readonly at: Instant }>();

  const count = (event: DurableEvent, at: Instant, state: State): void => {
    switch (event.type) {
      case "lease-granted": {
        const lease = state.leases.get(event.id);
        const pools = event.claims.map(
          ({ resource }) => state.resources.get(resource)?.pool.name ?? "",
        );
        granted.set(event.id, { pools, at });
        for (const name of pools) {
          grants.inc({ pool: name });
          waited.observe({ pool: name }, (at - (lease?.queuedAt ?? at)) / 1_000);
        }
        return;
      }
      case "lease-ended": {
        ends.inc({ reason: event.why });
        const known = granted.get(event.id);
        granted.delete(event.id);
        for (const name of known?.pools ?? []) {
          held.observe({ pool: name }, (at - (known?.at ?? at)) / 1_000);
          if (event.why === "expired" || event.why === "lifetime") expiries.inc({ pool: name });
        }
        return;
      }
      case "request-left":
        left.inc({ reason: event.why });
        return;
      default:
        return;
    }
  };
  broker.listen({
    committed({ at, events }: Recorded, state) {
      commits.inc();
      batch.observe(events.length);
      for (const event of events) count(event, at, state);
    },
  });
}

function sampleState(source: MetricsSource, register: Register): void {
  const { broker, waits, configStatus } = source;
  const byPool = { labelNames: ["pool"], ...register } as const;
  const waiters = new Gauge({ name: "berth_waiters", help: "Requests that wait", ...byPool });
  const oldest = new Gauge({
    name: "berth_oldest_waiter_seconds",
    help: "How long the oldest waiter has waited; 0 for none",
    ...byPool,
  });
  const leases = new Gauge({ name: "berth_leases", help: "Leases held", ...register });
  new Gauge({
    name: "berth_resources",
    help: "Resources by pool and state",
    labelNames: ["pool", "state"],
    ...register,
    async collect() {
      await broker.look((state, now) => {
        leases.set(state.leases.size);
        this.reset();
        waiters.reset();
        oldest.reset();
        for (const pool of state.pools.values()) {
          for (const [name, size] of pool.shown) this.set({ pool: pool.name, state: name }, size);
          waiters.set({ pool: pool.name }, pool.queue.size);
          oldest.set({ pool: pool.name }, (now - (oldestQueuedAt(pool) ?? now)) / 1_000);
        }
      });
    },
  });
  const sample = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      ...register,
      collect() {
        this.set(read());
      },
    });
  sample("berth_open_waits", "Long polls that are open", () => waits.size);
  sample("berth_journal_head", "Number of the last event", () => broker.head);
  sample("berth_journal_writable", "0 while the journal cannot be written", () =>
    broker.unwritable === null ? 1 : 0,
  );
  sample(
    "berth_config_reload_ok",
    "0 while the configuration file is refused and an older one is in force",
    () => (configStatus().ok ? 1 : 0),
  );
  sample(
    "berth_config_in_force_timestamp_seconds",
    "Since when the present configuration is in force",
    () => Date.parse(configStatus().inForceSince) / 1_000,
  );
}
