import { useNowMs } from "../data/clock.ts";
import { Moment } from "../parts/times.tsx";

interface Step {
  readonly label: string;
  /** null: now. */
  readonly at: string | null;
}

/** The steps of a lease on one line, with distances in proportion as far as the labels allow. */
export function Timeline({ steps }: { steps: readonly Step[] }) {
  const now = useNowMs();
  const times = steps.map((step) => (step.at === null ? now : Date.parse(step.at)));
  const first = Math.min(...times);
  const whole = Math.max(1, Math.max(...times) - first);
  return (
    <ol className="timeline">
      {steps.map((step, index) => (
        <li
          key={step.label}
          className={step.at === null ? "now" : undefined}
          style={{ flexGrow: growth(times, index, whole) }}
        >
          <b>{step.label}</b>
          {step.at === null ? null : <Moment at={step.at} />}
        </li>
      ))}
    </ol>
  );
}

/** The space until the next step; 0 for the last one. */
function growth(times: readonly number[], index: number, whole: number): number {
  const next = times[index + 1];
  const here = times[index];
  if (next === undefined || here === undefined) return 0;
  return Math.max(0.05, (next - here) / whole);
}
