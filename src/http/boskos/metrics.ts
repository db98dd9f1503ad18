/** The names that Boskos's dashboards and alerts know, beside Berth's own. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { Gauge, type Registry } from "prom-client";
import type { Broker } from "../../broker/broker.ts";
import { countByState } from "../../core/explain/pool-view.ts";
import type { LeaseView } from "../../core/explain/view.ts";
import {
  busyState,
  cleaningState,
  dirtyState,
  freeState,
  toBeDeletedState,
  tombstoneState,
} from "../../core/model/lifecycle.ts";
import type { Pool } from "../../core/model/state.ts";
import { type BucketCounts, BucketHistogram } from "../metrics/bucket-histogram.ts";

const knownStates = [
  ...[busyState, cleaningState, dirtyState, freeState],
  ...["leased", toBeDeletedState, tombstoneState],
];

/** Different user agents that get a label of their own; all others are `other`. */
const agentsMax = 50;

interface Acquired {
  readonly type: string;
  readonly state: string;
  readonly dest: string;
  readonly hasRequestId: boolean;
}

export class BoskosMetrics {
  readonly #acquire: BucketHistogram;
  readonly #duration: BucketHistogram;
  readonly #size: BucketHistogram;
  /** By all label values together. */
  readonly #acquired = new Map<string, BucketCounts>();
  readonly #answered = new Map<string, { duration: BucketCounts; size: BucketCounts }>();
  readonly #agents = new Set<string>();

  constructor(broker: Broker, registry: Registry) {
    const registers = [registry];
    new Gauge({
      name: "boskos_resources",
      help: "Number of resources recorded in Boskos",
      labelNames: ["type", "state"],
      registers,
      collect() {
        this.reset();
        return broker.read(({ pools }) => {
          for (const pool of sortedByName(pools.values())) {
            for (const [state, count] of normalised(countByState(pool))) {
              this.set({ type: pool.name, state }, count);
            }
          }
        });
      },
    });
    this.#acquire = new BucketHistogram({
      name: "boskos_acquire_duration_seconds",
      help: "From the first sight of a request to its lease",
      labelNames: ["type", "state", "dest", "has_request_id"],
      buckets: [1, 10, 100, 500, 1000, 1500, 2000],
      registers,
    });
    const labelNames = ["path", "method", "status", "user_agent"];
    this.#duration = new BucketHistogram({
      name: "boskos_http_request_duration_seconds",
      help: "How long Boskos's calls took to answer",
      labelNames,
      buckets: [0.005, ...Array.from({ length: 18 }, (_, power) => 2 ** (power - 7)), 1200],
      registers,
    });
    this.#size = new BucketHistogram({
      name: "boskos_http_response_size_bytes",
      help: "How large the answers to Boskos's calls were",
      labelNames,
      buckets: Array.from({ length: 10 }, (_, power) => 2 ** (power + 7)),
      registers,
    });
  }

  acquired(
    { queuedAt, grantedAt }: LeaseView,
    { type, state, dest, hasRequestId }: Acquired,
  ): void {
    const labels = {
      type,
      state: labelOf(state),
      dest: labelOf(dest),
      has_request_id: String(hasRequestId),
    };
    const key = Object.values(labels).join("\n");
    let series = this.#acquired.get(key);
    if (series === undefined) {
      series = this.#acquire.series(labels);
      this.#acquired.set(key, series);
    }
    series.observe((grantedAt - queuedAt) / 1_000);
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const labels = {
      path: request.routeOptions.url ?? "unmatched",
      method: request.method,
      status: reply.statusCode,
      user_agent: this.#agentOf(request),
    };
    const key = Object.values(labels).join("\n");
    let series = this.#answered.get(key);
    if (series === undefined) {
      series = { duration: this.#duration.series(labels), size: this.#size.series(labels) };
      this.#answered.set(key, series);
    }
    series.duration.observe(reply.elapsedTime / 1_000);
    series.size.observe(Number(reply.getHeader("content-length") ?? 0));
  }

  #agentOf({ headers }: FastifyRequest): string {
    const agent = headers["user-agent"] ?? "";
    if (this.#agents.has(agent)) return agent;
    if (this.#agents.size >= agentsMax || agent.length > 128) return "other";
    this.#agents.add(agent);
    return agent;
  }
}

/** In the order of types, as Boskos lists them. */
function sortedByName(pools: Iterable<Pool>): Pool[] {
  return [...pools].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Clients may invent states, and each label value is kept for ever. */
function labelOf(state: string): string {
  return knownStates.includes(state) ? state : "other";
}

/** Every known state, with a zero where there is none, and the others in one. */
function normalised(states: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map(knownStates.map((state) => [state, 0]));
  for (const [state, count] of states) {
    const label = labelOf(state);
    counts.set(label, (counts.get(label) ?? 0) + count);
  }
  return counts;
}
