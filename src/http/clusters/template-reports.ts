/**
 * Templates that provisioners cannot use, as each of them last said. Only in memory: they say it again and
 * again, and one that has said nothing for a while is forgotten.
 */
import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import type { Instant } from "../../core/model/time.ts";

/** One that a provisioner has reported. */
export interface ReportedTemplate extends UnusableTemplate {
  readonly since: Instant;
}

interface Report {
  readonly at: Instant;
  readonly unusable: readonly ReportedTemplate[];
}

/** They report every 15 s. */
const forgottenAfterMs = 60_000;
const provisionersMax = 100;

export class TemplateReports {
  readonly #reports = new Map<string, Report>();

  /** All that this provisioner cannot use now. */
  put(provisioner: string, unusable: readonly UnusableTemplate[], now: Instant): void {
    const before = new Map(this.#reports.get(provisioner)?.unusable.map((one) => [one.name, one]));
    this.#reports.delete(provisioner);
    this.#forget(now);
    if (unusable.length === 0 || this.#reports.size >= provisionersMax) return;
    const since = ({ name }: UnusableTemplate) => before.get(name)?.since ?? now;
    const reported = unusable.map((one) => ({ ...one, since: since(one) }));
    this.#reports.set(provisioner, { at: now, unusable: reported });
  }

  /** What all provisioners have said that still report. */
  all(now: Instant): readonly ReportedTemplate[] {
    this.#forget(now);
    return [...this.#reports.values()].flatMap(({ unusable }) => unusable);
  }

  #forget(now: Instant): void {
    for (const [provisioner, { at }] of this.#reports) {
      if (now - at > forgottenAfterMs) this.#reports.delete(provisioner);
    }
  }
}
