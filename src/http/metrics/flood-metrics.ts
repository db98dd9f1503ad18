import { Counter, Gauge, type Registry } from "prom-client";
import type { Context } from "../context.ts";

/** Calls that a limit has refused, and how far the audit is behind. */
export function floodMetrics(
  { auth, insight }: Pick<Context, "auth" | "insight">,
  registry: Registry,
): void {
  new Counter({
    name: "berth_limited_calls_total",
    help: "Calls answered with 429, by the limit: requests of a caller, or failures of an address",
    labelNames: ["limit"],
    registers: [registry],
    collect() {
      this.reset();
      this.inc({ limit: "requests" }, auth.limits.refused.requests);
      this.inc({ limit: "failures" }, auth.limits.refused.failures);
    },
  });
  new Gauge({
    name: "berth_audit_behind_events",
    help: "Committed events that the audit has not recorded yet",
    registers: [registry],
    collect() {
      this.set(insight.audit.lag);
    },
  });
}
