/** Clusters by state and phase, with the driver that makes them. Only of pools that have some. */
import { Counter, Gauge, type Registry } from "prom-client";
import { clustersOf, isMade } from "../../core/explain/cluster-view.ts";
import { isPhase, stuckOn } from "../../core/model/cluster.ts";
import type { BrokerEvent, Return } from "../../core/model/event.ts";
import type { ResourceName } from "../../core/model/ids.ts";
import { brokenState } from "../../core/model/lifecycle.ts";
import type { State } from "../../core/model/state.ts";
import type { Context } from "../context.ts";

type Source = Pick<Context, "broker"> & Partial<Pick<Context, "templates">>;

type Labels = Record<"pool" | "driver" | "state" | "phase" | "template", string>;

export function clusterMetrics(source: Source, registry: Registry): void {
  sampleClusters(source, registry);
  sampleTroubles(source, registry);
  countFailures(source, registry);
}

function driverIn({ templates }: Source): (template: string) => string {
  const drivers = new Map(templates?.().map(({ name, driver }) => [name, driver]));
  return (template) => drivers.get(template) ?? "unknown";
}

type Sample = (
  name: string,
  help: string,
  labelNames: string[],
  read: (state: State, set: (labels: Partial<Labels>, value: number) => void) => void,
) => void;

function samplerIn({ broker }: Source, registry: Registry): Sample {
  return (name, help, labelNames, read) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset();
        await broker.read((state) =>
          read(state, (labels, value) => this.set({ ...labels }, value)),
        );
      },
    });
}

function sampleClusters(source: Source, registry: Registry): void {
  const { broker } = source;
  const gauge = samplerIn(source, registry);
  gauge("berth_clusters", "Clusters by state", ["pool", "driver", "state"], (state, set) => {
    const driver = driverIn(source);
    const counts = new Map<string, [Partial<Labels>, number]>();
    for (const one of clustersOf(state)) {
      const labels = {
        pool: one.pool.name,
        driver: driver(one.cluster.template),
        state: one.state,
      };
      const key = JSON.stringify(labels);
      counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + 1]);
    }
    for (const [labels, count] of counts.values()) set(labels, count);
  });
  const phases = ["pool", "driver", "phase"];
  gauge("berth_cluster_phase_oldest_seconds", "The longest present phase", phases, (state, set) => {
    const driver = driverIn(source);
    const oldest = new Map<string, [Partial<Labels>, number]>();
    for (const { pool, cluster, state: phase } of clustersOf(state)) {
      if (!isPhase(phase)) continue;
      const labels = { pool: pool.name, driver: driver(cluster.template), phase };
      const key = JSON.stringify(labels);
      const seconds = (broker.now() - cluster.since) / 1_000;
      oldest.set(key, [labels, Math.max(seconds, oldest.get(key)?.[1] ?? 0)]);
    }
    for (const [labels, seconds] of oldest.values()) set(labels, seconds);
  });
  gauge("berth_cluster_phase_usual_seconds", "Median of recent phases", phases, (state, set) => {
    const driver = driverIn(source);
    for (const { name, clusters, policy } of state.pools.values()) {
      for (const [phase, { count, usualMs }] of Object.entries(clusters?.phases ?? {})) {
        const labels = { pool: name, driver: driver(policy.cluster?.template ?? ""), phase };
        if (count > 0) set(labels, usualMs / 1_000);
      }
    }
  });
}

/** What somebody has to look at. */
function sampleTroubles(source: Source, registry: Registry): void {
  const gauge = samplerIn(source, registry);
  gauge(
    "berth_clusters_stuck",
    "Clusters whose destruction takes too long",
    ["pool"],
    (state, set) => {
      const counts = new Map<string, number>();
      for (const { pool, cluster } of clustersOf(state)) {
        counts.set(pool.name, (counts.get(pool.name) ?? 0) + (stuckOn(cluster) === null ? 0 : 1));
      }
      for (const [pool, count] of counts) set({ pool }, count);
    },
  );
  const orphans = "Clusters that exist outside and that nobody knows of";
  gauge("berth_orphan_clusters", orphans, ["template"], (state, set) => {
    const counts = new Map(source.templates?.().map(({ name }) => [name, 0]));
    for (const { template } of state.orphanClusters.values()) {
      counts.set(template, (counts.get(template) ?? 0) + 1);
    }
    for (const [template, count] of counts) set({ template }, count);
  });
}

/** What went wrong since the server was started. */
function countFailures(source: Source, registry: Registry): void {
  const failures = new Counter({
    name: "berth_cluster_failures_total",
    help: "Failed attempts in a phase",
    labelNames: ["pool", "driver", "phase"],
    registers: [registry],
  });
  const broken = new Counter({
    name: "berth_clusters_broken_total",
    help: "Clusters that failed for good or took too long",
    labelNames: ["pool", "driver"],
    registers: [registry],
  });
  source.broker.listen({
    committed: ({ events }, state) => {
      for (const event of events) {
        for (const [resource, phase] of failuresIn(event)) {
          const labels = labelsOf(state, resource, driverIn(source));
          if (labels === undefined) continue;
          if (phase === brokenState) broken.inc(labels);
          else failures.inc({ ...labels, phase });
        }
      }
    },
  });
}

/** The clusters that an event tells about a failure of, and the phase that failed. */
function failuresIn(event: BrokerEvent): readonly (readonly [string, string])[] {
  if (event.type === "cluster-moved") {
    return event.state === brokenState ? [[event.resource, brokenState]] : [];
  }
  if (event.type !== "lease-ended" && event.type !== "claim-ended") return [];
  return [event.back ?? []].flat().flatMap(({ resource, state, failures = 0 }: Return) => {
    return state === brokenState || (isPhase(state) && failures > 0)
      ? [[resource, state] as const]
      : [];
  });
}

function labelsOf(state: State, name: string, driver: (template: string) => string) {
  const resource = state.resources.get(name as ResourceName);
  if (resource === undefined || !isMade(resource)) return undefined;
  return { pool: resource.pool.name, driver: driver(resource.cluster.template) };
}
