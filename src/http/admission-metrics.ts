import { Gauge, type Registry } from "prom-client";
import { counters } from "./lease-metrics.ts";

/** What was found by those who look whether pools may be lent. */
export interface AdmissionFigures {
  readonly verdicts: ReadonlyMap<string, "room" | "none" | "unknown">;
  readonly looks: ReadonlyMap<string, number>;
}

/** Only of pools that were looked at: most wait for nothing outside. */
export function admissionMetrics(
  read: () => AdmissionFigures | undefined,
  registry: Registry,
): void {
  const gauge = (name: string, help: string, isTrue: (verdict: string) => boolean) =>
    new Gauge({
      name,
      help,
      labelNames: ["pool"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [pool, verdict] of read()?.verdicts ?? []) {
          this.set({ pool }, isTrue(verdict) ? 1 : 0);
        }
      },
    });
  gauge("berth_admission_up", "0 while nobody can tell whether there is room", (verdict) => {
    return verdict !== "unknown";
  });
  gauge("berth_admission_room", "1 if the last look found room", (verdict) => verdict === "room");
  counters(registry)("berth_admission_looks_total", "Looks by what they found", "found", () => {
    return read()?.looks ?? [];
  });
}
