import { Gauge, type Registry } from "prom-client";
import type { Instant } from "../../core/model/time.ts";
import { counters } from "./lease-metrics.ts";

export interface Look {
  readonly found: "room" | "none" | "unknown";
  readonly at: Instant;
  /** No look before. */
  readonly nextAt: Instant;
}

/** What the admission checks of pools have found. */
export interface AdmissionFigures {
  /** By pool, the last look. */
  readonly last: ReadonlyMap<string, Look>;
  readonly looks: ReadonlyMap<string, number>;
}

/** Only of pools that were looked at: most wait for nothing outside. */
export function admissionMetrics(
  read: () => AdmissionFigures | undefined,
  registry: Registry,
): void {
  const gauge = (name: string, help: string, isTrue: (found: string) => boolean) =>
    new Gauge({
      name,
      help,
      labelNames: ["pool"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [pool, { found }] of read()?.last ?? []) {
          this.set({ pool }, isTrue(found) ? 1 : 0);
        }
      },
    });
  gauge("berth_admission_up", "0 while nobody can tell whether there is capacity", (found) => {
    return found !== "unknown";
  });
  gauge("berth_admission_room", "1 if the last look found capacity", (found) => found === "room");
  counters(registry)("berth_admission_looks_total", "Looks by what they found", "found", () => {
    return read()?.looks ?? [];
  });
}
