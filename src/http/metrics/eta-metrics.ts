import { Gauge, type Registry } from "prom-client";
import type { Accuracy } from "../../insight/forecast/accuracy.ts";
import type { StatsService } from "../../insight/stats-service.ts";
import { counters } from "./lease-metrics.ts";

/**
 * Estimates beside what happened. `rate(berth_eta_within_p90_total) / rate(berth_eta_compared_total)`
 * is the hit rate: about 0.9, and about 0.5 for the P50, where they are honest.
 */
export function etaMetrics(insight: StatsService, registry: Registry): void {
  const { estimates } = insight;
  const count = counters(registry);
  const perPool = (read: (accuracy: Accuracy) => number) =>
    function* () {
      for (const [pool, accuracy] of estimates.accuracy.pools()) {
        yield [pool, read(accuracy)] as [string, number];
      }
    };
  count(
    "berth_eta_compared_total",
    "Requests whose first estimate has met its grant",
    "pool",
    perPool(({ compared }) => compared),
  );
  count(
    "berth_eta_within_p50_total",
    "Of these, granted by the estimate's P50",
    "pool",
    perPool(({ withinP50 }) => withinP50),
  );
  count(
    "berth_eta_within_p90_total",
    "Of these, granted by the estimate's P90",
    "pool",
    perPool(({ withinP90 }) => withinP90),
  );
  count(
    "berth_eta_error_seconds_total",
    "How far the P50 was off, whichever way, added up",
    "pool",
    perPool(({ compared, meanErrorMs }) => (compared * meanErrorMs) / 1_000),
  );
  gauge(registry, "berth_eta_estimated", "Waiters that have an estimate", () => estimates.size);
  gauge(
    registry,
    "berth_eta_pass_seconds",
    "How long the last estimates took to make",
    () => estimates.lastPassMs / 1_000,
  );
  gauge(
    registry,
    "berth_history_lag_events",
    "Events that history has yet to follow",
    () => insight.lag,
  );
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
