import type { ReplayedPart, SimulatedVariants } from "../../../src/api/history-schemas.ts";
import { startedWithin } from "../../../src/api/started-within.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import type { Percentile } from "../parts/percentile-looks.ts";
import { usePlace } from "../router.ts";
import { type CurvePoint, WaitCurves } from "./wait-curves.tsx";
import { type Conclusion, conclusionOf } from "./what-if-conclusion.ts";
import { type Cause, numberOf, type Topic, type WhatIfQuestion } from "./what-if-facts.ts";
import { whatIfTitle } from "./what-if-place.ts";
import { roughConclusion } from "./what-if-rough.ts";
import {
  type AnswerRow,
  changeBetween,
  fewerWords,
  inUse,
  type Measure,
  replayCheck,
  replayedWords,
  shortRecordWords,
  startedWords,
  waits,
  withToday,
} from "./what-if-words.ts";

interface Props {
  readonly name: string;
  readonly question: WhatIfQuestion;
  readonly values: readonly string[];
  readonly space: string;
  /** How much of the past was asked for. */
  readonly last: string;
  readonly found: SimulatedVariants;
  readonly cause: Cause | undefined;
}

export function WhatIfAnswer({ name, question, values, space, last, found, cause }: Props) {
  const [present, ...others] = found.variants;
  const base = present?.simulation.pools.find(({ pool }) => pool === name);
  if (present === undefined || base === undefined) {
    return <p className="calm">There were no requests in that time.</p>;
  }
  const asked = values.flatMap((value, index): AnswerRow[] => {
    const part = others[index]?.simulation.pools.find(({ pool }) => pool === name)?.simulated;
    const isToday = isSameValue(value, question);
    return part === undefined ? [] : [{ label: value, part, isToday }];
  });
  const { from, to, unknowns } = present.simulation;
  const rows = withToday(asked, base.simulated, question.today);
  const today = rows.find(({ isToday }) => isToday);
  const compared = { recorded: base.recorded, simulated: today?.part ?? base.simulated };
  const check = replayCheck(compared.recorded, compared.simulated);
  const about = { errorSeconds: check.errorSeconds, what: nouns[question.topic], cause };
  const whose = question.topic === "weight" ? ` of ${space}` : "";
  return (
    <>
      <Answer
        conclusion={
          check.quality === "useless"
            ? roughConclusion(rows, base.recorded)
            : conclusionOf(rows, about)
        }
        record={shortRecordWords({ from, to, last })}
      />
      <p className={check.quality === "good" ? "calm" : "late-note"}>{check.text}</p>
      <div className="curves-and-table">
        <Curves {...{ question, rows, whose }} recorded={base.recorded} useless={check.useless} />
        <table className="compare">
          <caption>
            {replayedWords({
              from,
              to,
              claims: `${grouped(base.recorded.asked)} claims${whose}`,
            })}{" "}
            Arrows compare with the pool as it is today, replayed
            {check.quality === "good" ? "." : "; ≈: too small to trust."}
            {check.useless.length === 0 ? "" : " Grey: the replay does not match the record."}
          </caption>
          <thead>
            <tr>
              <th scope="col">{titles[question.topic]}</th>
              <th scope="col" className="number">
                Started
              </th>
              {columns(base.simulated).map(({ label, isUse }) => (
                <th key={label} scope="col" className={isUse ? "number on-desk" : "number"}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <ResultRow label="recorded" part={base.recorded} base={undefined} useless={[]} />
            {today === undefined ? (
              <ResultRow
                label="as it is, replayed"
                part={base.simulated}
                base={undefined}
                useless={check.useless}
              />
            ) : null}
            {rows.map(({ label, part, isToday }) => (
              <ResultRow
                key={label}
                {...{ label, part, isToday }}
                base={compared}
                useless={check.useless}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p className="calm after-table">
        <a href={location.href}>Link to this answer</a>: it replays the same time again.
      </p>
      <Limits name={name} unknowns={unknowns} />
    </>
  );
}

interface AnswerProps {
  readonly conclusion: Conclusion | undefined;
  /** That less is recorded than was asked for. */
  readonly record: string | undefined;
}

function Answer({ conclusion, record }: AnswerProps) {
  if (conclusion === undefined && record === undefined) return null;
  const { lead, rest = [], ask } = conclusion ?? {};
  return (
    <p className="answer">
      <b>{lead}</b> {[...rest, ...(record === undefined ? [] : [record])].join(" ")}{" "}
      {ask === undefined ? null : <AskInstead topic={ask} />}
    </p>
  );
}

function AskInstead({ topic }: { topic: Topic }) {
  const { path } = usePlace();
  return <Link href={`${path}?if=${topic}#${whatIfTitle}`}>Try another {nouns[topic]}</Link>;
}

/** `30s` and `0.5m` are one value. */
function isSameValue(value: string, { today, numeric }: WhatIfQuestion): boolean {
  if (today === undefined) return false;
  return numeric ? numberOf(value) === numberOf(today) : value === today;
}

const titles = {
  size: "Size",
  limit: "Limit",
  hosts: "Hosts",
  pace: "One every",
  placement: "Strategy",
  weight: "Weight",
} as const;

/** What one value is, in a sentence. */
const nouns = {
  ...{ size: "size", limit: "limit", hosts: "number", pace: "pace", placement: "strategy" },
  weight: "weight",
} as const;

interface CurvesProps {
  readonly rows: readonly AnswerRow[];
  readonly whose: string;
  readonly recorded: ReplayedPart;
  /** The waits that the replay says nothing about. */
  readonly useless: readonly Percentile[];
}

function Curves({
  question,
  rows,
  whose,
  recorded,
  useless,
}: Pick<Props, "question"> & CurvesProps) {
  const pointOf = (value: string, part: ReplayedPart): CurvePoint => ({
    ...{ value, x: numberOf(value), isKnown: (part.starts?.claims ?? 0) > 0 },
    ...{ p50: startedWithin(part, "p50"), p90: startedWithin(part, "p90") },
    p99: startedWithin(part, "p99"),
  });
  const points = rows.map(({ label, part }) => pointOf(label, part));
  if (!question.numeric || points.length < 2) return null;
  const today = question.today === undefined ? undefined : pointOf(question.today, recorded);
  const axis =
    question.topic === "pace" ? "time between starts" : titles[question.topic].toLowerCase();
  const title = `Waits${whose} by ${axis}`;
  return <WaitCurves {...{ title, points, useless }} recorded={today} />;
}

interface Column extends Measure {
  readonly label: string;
  /** Of a wait. */
  readonly share?: Percentile;
  /** A phone has no room for it. */
  readonly isUse?: boolean;
  readonly read: (part: ReplayedPart) => number | null;
  /** What is written without a value. */
  readonly unknown?: (part: ReplayedPart) => string;
}

function columns(part: ReplayedPart): Column[] {
  const wait = (key: "p50" | "p90" | "p99", label: string): Column => ({
    ...{ label, share: key, ...waits },
    read: (part) => startedWithin(part, key),
    unknown: fewerWords,
  });
  return [
    wait("p50", "Half within"),
    wait("p90", "9 in 10 within"),
    wait("p99", "99 in 100 within"),
    // Of a shared pool it would be that of one of its dimensions.
    ...(part.dimensions.length > 0
      ? []
      : [
          {
            label: "In use",
            isUse: true,
            ...inUse,
            read: ({ utilisation }: ReplayedPart) => utilisation,
          },
        ]),
    ...part.dimensions.map(({ name }) => ({
      ...{ label: `${name} in use`, isUse: true },
      read: ({ dimensions }: ReplayedPart) =>
        dimensions.find((one) => one.name === name)?.utilisation ?? null,
      ...inUse,
    })),
  ];
}

interface ResultProps {
  readonly label: string;
  readonly part: ReplayedPart;
  readonly isToday?: boolean;
  /** What it is compared with: the pool as it is, replayed and recorded. */
  readonly base: Compared | undefined;
  readonly useless: readonly Percentile[];
}

type Compared = Pick<
  SimulatedVariants["variants"][number]["simulation"]["total"],
  "recorded" | "simulated"
>;

function ResultRow({ label, part, isToday = false, base, useless }: ResultProps) {
  const looks = (column: Column) => {
    const isUseless = column.share !== undefined && useless.includes(column.share);
    return `number${column.isUse ? " on-desk" : ""}${isUseless ? " useless" : ""}`;
  };
  return (
    <tr className={isToday ? "today" : undefined}>
      <th scope="row">
        {label} {isToday ? <small className="chip">today</small> : null}
      </th>
      <td className="number started">
        {part.starts === undefined ? grouped(part.granted) : startedWords(part.starts)}
      </td>
      {columns(part).map((column) => (
        <td key={column.label} className={looks(column)}>
          <Value {...{ column, part }} />
          {base === undefined || isToday ? null : <Difference {...{ column, part, base }} />}
        </td>
      ))}
    </tr>
  );
}

function Value({ column: { read, show, unknown }, part }: { column: Column; part: ReplayedPart }) {
  const value = read(part);
  return value === null ? <small className="faint">{unknown?.(part) ?? "–"}</small> : show(value);
}

/** `↓ 2m`: the arrow says the direction, its colour whether that is better. */
function Difference(props: { column: Column; part: ReplayedPart; base: Compared }) {
  const { column, part, base } = props;
  const [now, before, was] = [part, base.simulated, base.recorded].map(column.read);
  if (typeof now !== "number" || typeof before !== "number") return null;
  const { isLess, text, size } = changeBetween(before, now, column);
  if (text === "") return <small className="change">=</small>;
  const isWithinError = typeof was === "number" && size <= changeBetween(was, before, column).size;
  const isPlain = isWithinError || column.lessIsBetter === undefined;
  const look = isPlain ? "" : isLess ? "better" : "worse";
  return (
    <small
      className={`change ${look}`}
      title={isWithinError ? "No more than the replay is off by" : undefined}
    >
      {isWithinError ? "≈ " : ""}
      <span aria-hidden="true">{isLess ? "↓" : "↑"}</span>
      <span className="hidden">{isLess ? "less by" : "more by"}</span> {text}
    </small>
  );
}

/** What concerns this pool is said at once; what holds for every replay, on demand. */
function Limits({ name, unknowns }: { name: string; unknowns: readonly string[] }) {
  const own = unknowns.filter((text) => text.startsWith(`Pool ${name} `));
  return (
    <>
      {own.map((text) => (
        <p key={text} className="calm">
          {text}
        </p>
      ))}
      <details>
        <summary>Limits of this simulation</summary>
        <ul className="plain-list">
          {unknowns.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </details>
    </>
  );
}
