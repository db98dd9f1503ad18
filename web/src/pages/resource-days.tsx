import { useState } from "react";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { eventsAbout, past } from "../data/questions.ts";
import { Choice } from "../parts/choice.tsx";
import { momentText } from "../parts/clock-time.ts";
import { MoreButton } from "../parts/more-button.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { percent } from "../parts/numbers.ts";
import { rowsAtFirst } from "../parts/phone.ts";
import { lookOf } from "../parts/state-look.ts";
import { inWords } from "../parts/times.tsx";
import { useFilter } from "../router.ts";
import {
  coveredMs,
  drainsOf,
  fittingMs,
  type Hold,
  holdsOf,
  meanUseOf,
  quarantinesOf,
  rowsOf,
} from "./holds.ts";
import { isBadEnd, PastTable } from "./past-table.tsx";

const spans = [
  ["", "All", undefined],
  ["1h", "1 hour", 1],
  ["6h", "6 hours", 6],
  ["1d", "1 day", 24],
  ["7d", "7 days", 7 * 24],
] as const;
const hourMs = 3_600_000;
export const weekHours = 7 * 24;
const width = 1_000;
/** In pixels, as it is drawn: holders of a shared resource have rows that can be seen and pointed at. */
const heightMin = 34;
const rowHeightMin = 10;
/** The colours of the blocks. */
const keys = [
  ["held", "held now"],
  ["past", "released"],
  ["dirty", "expired or ended"],
  ["cleaning", "cleaned"],
  ["bad", "quarantined"],
  ["drained", "drained"],
] as const;
const shownAtFirst = 10;
/** More holders at a time share the last row. */
const rowsMax = 8;

/** What held or cleaned the resource, the latest first. */
export const holdersOf = (resource: string, hours: number) =>
  past({ resource, since: `${hours}h`, limit: 500, purpose: "all" });

/** The holders of a resource: each hold is a block, and holds at the same time have rows. */
export function ResourceDays({ resource }: { resource: Resource }) {
  const [chosen] = useFilter("span");
  const hours = spans.find(([name]) => name === chosen)?.[2];
  const { data, error } = useAnswer(holdersOf(resource.name, hours ?? weekHours));
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const entries = data?.items ?? [];
  // Cleaning is upkeep: it is on the strip, and in the table only if it failed.
  const listed = entries.filter(({ purpose, how }) => purpose === "use" || isBadEnd(how));
  const now = useNowMs();
  const knownAddedMs = useAddedMs(resource.name);
  // Earlier holds than those were read are not drawn: the strip begins with the first that is.
  const addedMs = data?.next === null ? knownAddedMs : undefined;
  // They say where the strip begins: it is not drawn twice.
  const events = useAnswer(eventsAbout({ resource: resource.name }));
  const isKnown = events.data !== undefined || events.error !== undefined;
  const spanMs =
    hours === undefined
      ? fittingMs(holdsOf(resource, entries, now), addedMs, now)
      : Math.min(hours * hourMs, Math.max(1_000, now - (addedMs ?? 0)));
  return (
    <section aria-labelledby="days-title">
      <div className="tools">
        <h2 id="days-title">Past holders</h2>
        <Choice name="span" label="Period" options={spans.map(([n, l]) => [n, l] as const)} />
      </div>
      <ProblemNote error={error} />
      {data === undefined || !isKnown ? (
        <div className="lane lane-to-come">
          <Loading error={error} />
        </div>
      ) : (
        <Lane
          {...{ entries, resource, spanMs, addedMs }}
          isAll={hours === undefined}
          isWhole={data.next === null}
        />
      )}
      {listed.length === 0 ? null : <PastTable entries={listed.slice(0, limit)} ofOne />}
      <MoreButton shown={limit} of={listed.length} onMore={setLimit} />
    </section>
  );
}

/** When it was added; undefined: earlier than the journal goes, or not known yet. */
export function useAddedMs(name: string): number | undefined {
  const { data } = useAnswer(eventsAbout({ resource: name }));
  const first = data?.next === null ? data.items.at(-1) : undefined;
  return first?.type === "resource-added" ? Date.parse(first.at) : undefined;
}

/** Its key in the legend. */
function lookOfHold({ how, purpose }: Hold): string {
  if (purpose === "clean") return "cleaning";
  if (how === "held") return "held";
  return ["expired", "lifetime", "revoked"].includes(how) ? "dirty" : "past";
}

interface LaneProps {
  readonly entries: readonly HistoryEntry[];
  readonly resource: Resource;
  readonly spanMs: number;
  readonly addedMs: number | undefined;
  readonly isAll: boolean;
  /** There are no earlier holds than those of the entries. */
  readonly isWhole: boolean;
}

function Lane({ entries, resource, spanMs, addedMs, isAll, isWhole }: LaneProps) {
  const now = useNowMs();
  const from = now - spanMs;
  const x = (ms: number) => Math.max(0, ((ms - from) / spanMs) * width);
  const all = holdsOf(resource, entries, now);
  const rows = rowsOf(all, rowsMax);
  const holds = all.filter(({ purpose }) => purpose !== "clean");
  const count = holds.length === 1 ? "1 hold" : `${holds.length} holds`;
  const share = percent(coveredMs(holds, from) / spanMs);
  // Somebody holds a part of a shared one nearly always. All that ended since the oldest that was read is known.
  const knownMs = isWhole ? from : Math.max(from, Date.parse(entries.at(-1)?.endedAt ?? ""));
  const mean = meanUseOf(holds, resource.usage, { startMs: knownMs, endMs: now });
  const words =
    resource.shares === undefined
      ? `${count}, held for ${share} of the time`
      : mean === undefined
        ? count
        : `${count}, ${percent(mean.share)} of ${mean.dimension} in use on average`;
  const height = Math.max(heightMin, rows.length * rowHeightMin);
  const rowHeight = height / Math.max(1, rows.length);
  const { data } = useAnswer(eventsAbout({ resource: resource.name }));
  const events = data?.items ?? [];
  const outages = [
    ...drainsOf(resource, events, now).map((span) => ({ ...span, what: "drained" })),
    ...quarantinesOf(resource, events, now).map((span) => ({ ...span, what: "quarantined" })),
  ].filter(({ endMs }) => endMs > from);
  const blocks = rows.flatMap((row, index) => row.map((hold) => ({ ...hold, index })));
  const shownLooks = new Set(blocks.map(lookOfHold));
  for (const { what } of outages) shownLooks.add(lookOf(what));
  return (
    <figure className="lane">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        style={{ height }}
        preserveAspectRatio="none"
        role="img"
      >
        <title>{words}</title>
        <rect className="lane-ground" width={width} height={height} />
        {outages.map(({ startMs, endMs, what }) => (
          <rect
            key={`${what} ${startMs}`}
            className={`lane-block how-${what}`}
            x={x(startMs)}
            width={Math.max(1.5, x(endMs) - x(startMs))}
            height={height}
          >
            <title>{`${what} for ${inWords((endMs - startMs) / 1_000)}`}</title>
          </rect>
        ))}
        {blocks.map(({ id, holder, startMs, endMs, how, purpose, index }) => (
          // The table below has the same data as links.
          <rect
            key={`${id} ${startMs} ${index}`}
            className={`lane-block how-${purpose === "clean" ? "cleaning" : how}`}
            x={x(startMs)}
            y={index * rowHeight}
            width={Math.max(1.5, x(endMs) - x(startMs))}
            height={rowHeight}
          >
            <title>{`${holder}, ${how}`}</title>
          </rect>
        ))}
      </svg>
      <figcaption>
        <span>
          {momentText(from)}
          {from === addedMs
            ? ", added"
            : isAll && spanMs < weekHours * hourMs
              ? ", first hold"
              : ""}
        </span>
        <span>{words}</span>
        <span>now</span>
      </figcaption>
      <p className="legend">
        {keys
          .filter(([look]) => shownLooks.has(look))
          .map(([look, label]) => (
            <span key={label}>
              <i className={`look-${look}`} aria-hidden="true" /> {label}
            </span>
          ))}
      </p>
    </figure>
  );
}
