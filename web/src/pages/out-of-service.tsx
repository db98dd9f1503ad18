import { useMemo, useState } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, inStates, type Upkeep, upkeepOf } from "../data/questions.ts";
import { useNeedsAttention } from "../data/troubles.ts";
import { ActionButton, ActionButtons, NoActionsNote } from "../parts/action-button.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { Figures } from "../parts/figures.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { rowsAtFirst } from "../parts/phone.ts";
import { Age, inWords } from "../parts/times.tsx";
import { at, useFilter } from "../router.ts";
import { actionForAll, actionsFor } from "./actions.ts";
import { GroupRow } from "./group-row.tsx";
import {
  drainWords,
  groupsBySaid,
  lastLine,
  longCleaningMs,
  usualIfLong,
} from "./resource-facts.ts";

const shownAtFirst = 50;

const states = [
  ["quarantined", "Quarantined", "Cleaning failed too often, or somebody quarantined it."],
  ["drained", "Drained", "Not lent until somebody undrains it."],
  ["dirty", "To be cleaned", "Waiting for a cleaner."],
  ["cleaning", "Being cleaned", "A cleaner holds it."],
] as const;
const names = states.map(([state]) => state);

/** Resources that cannot be lent, with the cleaner's output. */
export function OutOfService() {
  const { data, error } = useAnswer(inStates(names));
  const [text] = useFilter("q");
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    const has = (resource: Resource) =>
      [resource.name, resource.pool, resource.note, drainWords(resource)].some((word) =>
        word.toLowerCase().includes(wanted),
      );
    const byAge = (a: Resource, b: Resource) => a.changedAt.localeCompare(b.changedAt);
    return data?.map((resources) => resources.filter(has).sort(byAge)) ?? [];
  }, [data, text]);
  const isEmpty = data?.every((resources) => resources.length === 0) ?? false;
  return (
    <>
      <h1>Out of service</h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      {data === undefined ? (
        <Loading error={error} />
      ) : (
        <Counts all={data} shown={shown} isFiltered={text !== ""} />
      )}
      {isEmpty ? (
        <EmptyNote title="Everything is in service">
          Drained, dirty and quarantined resources appear here, with the output of their cleaner.
        </EmptyNote>
      ) : (
        <div className="tools">
          <FilterBox label="Filter by resource, pool or note" />
          <CsvButton name="out-of-service" rows={() => csvRows(shown.flat())} />
        </div>
      )}
      {!isEmpty && data !== undefined && shown.every((resources) => resources.length === 0) ? (
        <EmptyNote title="No resource matches">Change the filter.</EmptyNote>
      ) : null}
      {states.map(([state, title, about], index) => (
        <InState key={state} {...{ state, title, about }} resources={shown[index] ?? []} />
      ))}
    </>
  );
}

function csvRows(resources: readonly Resource[]) {
  const rows = resources.map((resource) => [
    ...[resource.name, resource.pool, resource.drained ? "drained" : resource.state],
    ...[resource.changedAt, drainWords(resource), resource.note],
  ]);
  return [["resource", "pool", "state", "since", "drained", "note"], ...rows];
}

interface CountsProps {
  readonly all: readonly (readonly Resource[])[];
  readonly shown: readonly (readonly Resource[])[];
  readonly isFiltered: boolean;
}

/** How many in each state, and of how many with a filter. Cooling ones need no action, but the overview counts them. */
function Counts({ all, shown, isFiltered }: CountsProps) {
  const { data } = useAnswer(allPools);
  const isBad = useNeedsAttention("quarantined");
  const cooling = (data?.pools ?? []).reduce((sum, pool) => sum + (pool.states["cooling"] ?? 0), 0);
  return (
    <Figures
      label="Out of service, by state"
      figures={[
        ...states.map(([state, title], index) => {
          const count = shown[index]?.length ?? 0;
          const isBroken = state === "quarantined" && count > 0 && isBad;
          return {
            label: title,
            value: isBroken ? <span className="broken">{grouped(count)}</span> : count,
            ...(isFiltered && { aside: `of ${grouped(all[index]?.length ?? 0)}` }),
            bad: isBroken,
            ...(count > 0 && { href: `#out-${state}` }),
          };
        }),
        {
          label: "Cooling",
          value: cooling,
          aside: "will be free by themselves",
        },
      ]}
    />
  );
}

interface InStateProps {
  readonly state: string;
  readonly title: string;
  readonly about: string;
  readonly resources: readonly Resource[];
}

function InState({ state, title, about, resources }: InStateProps) {
  const [limit, setLimit] = useState(rowsAtFirst(shownAtFirst));
  const groups = groupsBySaid(resources.slice(0, limit));
  const times = useCleaningTimes(resources);
  const hasWords = groups.some(({ name: said, rows }) => said === "" || rows.some(saysMore));
  if (resources.length === 0) return null;
  return (
    <section aria-labelledby={`out-${state}`}>
      <h2 id={`out-${state}`}>
        {title} <small>{grouped(resources.length)}</small> <small className="about">{about}</small>
      </h2>
      <table className="out stack">
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Pool</th>
            <th scope="col" className="number">
              For
            </th>
            {hasWords ? <th scope="col">Note</th> : null}
            <th scope="col" className="action-cell">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        {groups.map(({ name: said, rows }) => (
          <tbody key={said}>
            {said === "" && groups.length === 1 ? null : (
              <GroupRow
                name={said || "With their own notes"}
                count={rows.length}
                columns={hasWords ? 5 : 4}
              >
                {said === "" ? null : <AllOf resources={rows} />}
              </GroupRow>
            )}
            {rows.map((resource) => (
              <OutRow
                key={resource.name}
                isSaid={said !== ""}
                usual={times?.get(resource.pool)?.cleaningSeconds}
                {...{ resource, hasWords }}
              />
            ))}
          </tbody>
        ))}
      </table>
      <MoreButton shown={limit} of={resources.length} onMore={setLimit} />
    </section>
  );
}

/** How long cleanings usually take in the pools in which one takes longer than most people watch. */
function useCleaningTimes(resources: readonly Resource[]) {
  const long = useInTime((nowMs) =>
    resources
      .filter(({ state }) => state === "cleaning")
      .filter(({ changedAt }) => nowMs - Date.parse(changedAt) >= longCleaningMs)
      .map(({ pool }) => pool)
      .join(),
  );
  const pools = [...new Set(long === "" ? [] : long.split(","))].sort();
  return useAnswer(upkeepOf(pools)).data;
}

/** What somebody does with one of them is often right for all that have the same note. */
function AllOf({ resources }: { resources: readonly Resource[] }) {
  const action = actionForAll(resources);
  return (
    <>
      <small> with this note</small>
      {action === undefined ? null : <ActionButton action={action} />}
    </>
  );
}

/** Whether there is more to say than the note that stands above it. */
function saysMore({ lease, failures }: Resource): boolean {
  return lease !== null || failures >= 2;
}

interface OutRowProps {
  readonly resource: Resource;
  readonly hasWords: boolean;
  /** Its note stands above it. */
  readonly isSaid: boolean;
  /** How long cleanings of its pool take, if that is known. */
  readonly usual: Upkeep["cleaningSeconds"] | undefined;
}

function OutRow({ resource, isSaid, hasWords, usual }: OutRowProps) {
  const { name, pool, changedAt } = resource;
  const { data: all } = useAnswer(allPools);
  const waiting = all?.pools.find((one) => one.name === pool)?.waiting ?? 0;
  const usualOrNone = useInTime((nowMs) => usualIfLong(resource, usual, nowMs) ?? -1);
  const usualSeconds = usualOrNone < 0 ? undefined : usualOrNone;
  return (
    <tr data-row>
      <th scope="row">
        <Link href={at("resources", name)}>{name}</Link>
      </th>
      <td>
        <Link href={at("pools", pool)}>{pool}</Link>
        {waiting === 0 ? null : <small className="faint"> {grouped(waiting)} waiting</small>}
      </td>
      <td className={usualSeconds === undefined ? "number" : "number late"} data-label="For">
        <Age since={changedAt} />
      </td>
      {hasWords ? (
        <td className="words">
          <Words {...{ resource, isSaid, usualSeconds }} />
        </td>
      ) : null}
      <td className="action-cell">
        <ActionButtons actions={actionsFor(resource)} />
      </td>
    </tr>
  );
}

interface WordsProps extends Pick<OutRowProps, "resource" | "isSaid"> {
  /** If its cleaning takes much longer. */
  readonly usualSeconds: number | undefined;
}

function Words({ resource, isSaid, usualSeconds }: WordsProps) {
  const { note, lease, failures } = resource;
  const line = lastLine(note);
  const drain = drainWords(resource);
  return (
    <>
      {isSaid || drain === "" ? null : <div>{drain}</div>}
      {lease === null ? null : (
        <div>
          {resource.state === "cleaning" ? "Cleaned" : "Still held"} by{" "}
          <Link href={at("leases", lease.id)}>{lease.holder}</Link>
          {usualSeconds === undefined ? null : (
            <span className="late">: takes long, usually {inWords(usualSeconds)}</span>
          )}
        </div>
      )}
      {failures < 2 ? null : <div>Cleaning has failed {grouped(failures)} times in a row</div>}
      {isSaid ? null : line === note.trim() ? (
        line
      ) : (
        <details>
          <summary>{line}</summary>
          <pre>{note}</pre>
        </details>
      )}
    </>
  );
}
