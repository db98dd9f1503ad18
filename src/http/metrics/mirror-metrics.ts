import { Counter, Gauge, type Registry } from "prom-client";
import { counters } from "./lease-metrics.ts";

/** The state of the mirror of the leases in Kubernetes. */
export interface MirrorFigures {
  readonly up: boolean;
  readonly behind: number;
  readonly failures: number;
  readonly written: {
    readonly created: number;
    readonly updated: number;
    readonly deleted: number;
  };
}

/** Nothing is shown of a mirror that is not configured. */
export function mirrorMetrics(read: () => MirrorFigures | undefined, registry: Registry): void {
  const gauge = (name: string, help: string, value: (figures: MirrorFigures) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const figures = read();
        this.remove();
        if (figures !== undefined) this.set(value(figures));
      },
    });
  gauge("berth_mirror_up", "0 while Kubernetes cannot be written to", ({ up }) => (up ? 1 : 0));
  gauge(
    "berth_mirror_behind",
    "Lease objects that do not say what is lent",
    ({ behind }) => behind,
  );
  counters(registry)("berth_mirror_writes_total", "Lease objects written", "kind", () =>
    Object.entries(read()?.written ?? {}),
  );
  new Counter({
    name: "berth_mirror_failures_total",
    help: "Times that Kubernetes could not be read or written",
    registers: [registry],
    collect() {
      this.reset();
      const failures = read()?.failures;
      if (failures !== undefined) this.inc(failures);
    },
  });
}
