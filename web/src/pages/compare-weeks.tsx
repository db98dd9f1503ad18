import { useState } from "react";
import type { Stats, StatsPart } from "../../../src/api/history-schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useAnswer } from "../data/query.ts";
import { fitOf, statsOf, weekOf } from "../data/questions.ts";
import { dataSince, rangeOf } from "../parts/chart-fit.ts";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { inWords } from "../parts/times.tsx";
import { notYetWords, possibleWords } from "./week-words.ts";

/** The same of one pool, read when somebody wants it. */
export function CompareWeeksOf({ pool }: { pool: string }) {
  const [isOpen, setOpen] = useState(false);
  const { data: fitting } = useAnswer(fitOf(pool));
  // Known only of the last day, so a week is missing.
  if (fitting?.since !== undefined) {
    return <p className="weeks calm">{possibleWords(fitting.since, serverNowMs())}.</p>;
  }
  return (
    <details className="weeks" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Compare this week with the week before</summary>
      {isOpen ? <CompareWeeks pool={pool} /> : null}
    </details>
  );
}

/** The last seven days beside the seven days before. */
export function CompareWeeks({ pool }: { pool?: string }) {
  const { data: now, error } = useAnswer(weekOf(pool, 0));
  const { data: before } = useAnswer(weekOf(pool, 1));
  return (
    <section aria-labelledby="weeks-title">
      <h2 id="weeks-title">
        Compare weeks <small className="about">The last 7 days, and the 7 days before them.</small>
      </h2>
      <ProblemNote error={error} />
      {now === undefined || before === undefined ? (
        <Loading error={error} />
      ) : before.total.asked > 0 ? (
        <Comparison now={now} before={before} />
      ) : now.total.asked === 0 ? (
        <p className="calm">Nobody has asked for anything in these two weeks.</p>
      ) : (
        // No numbers of one week alone: the charts have them, and these here would be older.
        <NotYet pool={pool} />
      )}
    </section>
  );
}

/** The window that fits the data knows its beginning if it is of the last day; the steps of the week, roughly. */
function NotYet({ pool }: { pool: string | undefined }) {
  const { data: fitting, error } = useAnswer(fitOf(pool));
  const { data: week } = useAnswer(statsOf(pool, rangeOf("7d")));
  const since = fitting?.since ?? (week === undefined ? undefined : dataSince(week));
  if (fitting === undefined || since === undefined) return <Loading error={error} />;
  return <p className="calm">{notYetWords(since, serverNowMs())}</p>;
}

interface Row {
  readonly label: string;
  readonly of: (part: StatsPart) => number | null;
  readonly format: (value: number) => string;
  /** Less is better. */
  readonly isBad?: boolean;
}

const rows: readonly Row[] = [
  { label: "Leases granted", of: ({ granted }) => granted, format: grouped },
  {
    ...{ label: "Wait, 9 in 10 within", format: inWords, isBad: true },
    of: ({ waitSeconds }) => waitSeconds?.p90 ?? null,
  },
  {
    ...{ label: "Wait, 99 in 100 within", format: inWords, isBad: true },
    of: ({ waitSeconds }) => waitSeconds?.p99 ?? null,
  },
  {
    ...{ label: "Longest wait until a start", format: inWords, isBad: true },
    of: ({ waitSeconds }) => waitSeconds?.max ?? null,
  },
  { label: "In use", of: ({ utilisation }) => utilisation, format: percent },
  { label: "Expired", of: ({ expired }) => expired, format: grouped, isBad: true },
  { label: "Never started", of: ({ left }) => left, format: grouped, isBad: true },
];

function Comparison({ now, before }: { now: Stats; before: Stats }) {
  return (
    <table className="compare">
      <thead>
        <tr>
          <th scope="col">
            <span className="hidden">Figure</span>
          </th>
          <th scope="col" className="number">
            Last 7 days
          </th>
          <th scope="col" className="number">
            7 days before
          </th>
          <th scope="col" className="number">
            Change
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const [is, was] = [row.of(now.total), row.of(before.total)];
          return (
            <tr key={row.label}>
              <th scope="row">{row.label}</th>
              <td className="number">{is === null ? "–" : row.format(is)}</td>
              <td className="number">{was === null ? "–" : row.format(was)}</td>
              <td className={isWorse(row, is, was) ? "number late" : "number"}>
                {changeText(is, was)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A smaller change is no news. */
const noteworthy = 0.1;

function isWorse({ isBad = false }: Row, is: number | null, was: number | null): boolean {
  return isBad && is !== null && was !== null && was > 0 && (is - was) / was > noteworthy;
}

function changeText(is: number | null, was: number | null): string {
  if (is === null || was === null || was === 0) return "–";
  const change = (is - was) / was;
  if (Math.abs(change) < 0.005) return "same";
  return `${change > 0 ? "↑" : "↓"} ${percent(Math.abs(change))}`;
}
