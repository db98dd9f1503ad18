import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { past } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { ProblemNote } from "../parts/notes.tsx";
import { percent } from "../parts/numbers.ts";
import { useFilter } from "../router.ts";
import { PastTable } from "./past-table.tsx";

const spans = [
  ["", "7 days", 7 * 24],
  ["1d", "1 day", 24],
  ["6h", "6 hours", 6],
  ["1h", "1 hour", 1],
] as const;
const hourMs = 3_600_000;
const width = 1_000;
const height = 34;

/** The past holders of a resource: each hold is a block on one line. */
export function ResourceDays({ resource }: { resource: Resource }) {
  const [chosen] = useFilter("span");
  const hours = spans.find(([name]) => name === chosen)?.[2] ?? 168;
  const { data, error } = useAnswer(
    past({ resource: resource.name, since: `${hours}h`, limit: 500, purpose: "all" }),
  );
  const entries = data?.items ?? [];
  return (
    <section aria-labelledby="days-title">
      <div className="tools">
        <h2 id="days-title">Past holders</h2>
        <Choice name="span" label="Period" options={spans.map(([n, l]) => [n, l] as const)} />
      </div>
      <ProblemNote error={error} />
      <Lane entries={entries} resource={resource} spanMs={hours * hourMs} />
      {entries.length === 0 ? null : <PastTable entries={entries.slice(0, 50)} />}
    </section>
  );
}

interface LaneProps {
  readonly entries: readonly HistoryEntry[];
  readonly resource: Resource;
  readonly spanMs: number;
}

function Lane({ entries, resource, spanMs }: LaneProps) {
  const now = useNowMs();
  const from = now - spanMs;
  const x = (ms: number) => Math.max(0, ((ms - from) / spanMs) * width);
  const current = resource.lease && {
    id: resource.lease.id,
    holder: resource.lease.holder,
    start: Date.parse(resource.lease.since),
    end: now,
    how: "held",
    purpose: resource.state === "cleaning" ? "clean" : "use",
  };
  const ended = entries.flatMap(({ id, holder, grantedAt, endedAt, how, purpose }) =>
    grantedAt === null
      ? []
      : [{ id, holder, start: Date.parse(grantedAt), end: Date.parse(endedAt), how, purpose }],
  );
  const blocks = current === null ? ended : [current, ...ended];
  // Cleaning is upkeep: it is shown, but it is no hold.
  const holds = blocks.filter(({ purpose }) => purpose !== "clean");
  const heldMs = holds.reduce((sum, { start, end }) => sum + end - Math.max(from, start), 0);
  const words = `${holds.length === 1 ? "1 hold" : `${holds.length} holds`}, held for ${percent(heldMs / spanMs)} of the time`;
  return (
    <figure className="lane">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
        <title>{words}</title>
        <rect className="lane-ground" width={width} height={height} />
        {blocks.map(({ id, holder, start, end, how, purpose }) => (
          // The table below has the same data as links.
          <rect
            key={`${id} ${start}`}
            className={`lane-block how-${purpose === "clean" ? "cleaning" : how}`}
            x={x(start)}
            width={Math.max(1.5, x(end) - x(start))}
            height={height}
          >
            <title>{`${holder}, ${how}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>
          {new Date(from).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
        </span>
        <span>{words}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}
