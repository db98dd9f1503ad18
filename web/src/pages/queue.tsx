import { useMemo } from "react";
import { isLaterThanEstimated } from "../../../src/api/late-estimate.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { queueOf } from "../data/questions.ts";
import { NoActionsNote } from "../parts/action-button.tsx";
import { Choice } from "../parts/choice.tsx";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { NoMatch } from "../parts/no-match.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { Pick } from "../parts/pick.tsx";
import { SpaceFilter } from "../parts/space-filter.tsx";
import { conditionsText } from "../parts/wants.ts";
import { useFilter } from "../router.ts";
import { shortQuota } from "./common-reason.ts";
import { EstimateAccuracyNote } from "./estimate.tsx";
import { type Group, groupedBy, groupings, isWanted, oldestIn } from "./grouping.ts";
import { QueueTable, useEmptyQueueText, useSeesAllSpaces } from "./queue-table.tsx";
import { QueueTiles } from "./queue-tiles.tsx";
import { inListOrder, listOrders, type Turn, turnsIn, withTurn } from "./start-order.ts";

/** The waiting requests of all pools. */
export function Queue() {
  const { data, error } = useAnswer(queueOf(undefined));
  const emptyText = useEmptyQueueText();
  const [text] = useFilter("q");
  const [space] = useFilter("space");
  const [by] = useFilter("group");
  const [late] = useFilter("late");
  const [order] = useFilter("sort");
  const all = data ?? noRequests;
  const seesAll = useSeesAllSpaces();
  const turns = useMemo(() => turnsOf(all, seesAll), [all, seesAll]);
  const wanted = all.filter((request) => {
    return isWanted(request, wordsOf(request, turns.get(request.id)), text, space);
  });
  const shown = late === "" ? wanted : wanted.filter(isLaterThanEstimated);
  return (
    <>
      <h1>Queue</h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      {all.length === 0 ? null : <QueueTiles requests={shown} all={all.length} />}
      <div className="tools">
        <FilterBox label="Filter by holder, pool, label or reason" />
        <SpaceFilter spaces={all.map((request) => request.space)} />
        <Choice name="late" label="Which" options={whichRequests} />
        <Choice name="group" label="Group" options={groupings} />
        {by === "none" ? <Pick name="sort" label="Order" options={listOrders} /> : null}
        <CsvButton name="queue" rows={() => csvRows(shown, turns)} />
      </div>
      <EstimateAccuracyNote />
      {data === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <NothingListed title={data.length === 0 ? emptyText : undefined} />
      ) : (
        <QueueTable
          groups={groupsOf(shown, { by, order }, turns)}
          turns={turns}
          withPools={by !== ""}
          shownAtFirst={100}
          withOldest={by === ""}
        />
      )}
    </>
  );
}

const whichRequests = [
  ["", "All"],
  ["1", "Late"],
] as const;

/** Nobody waits, as the title says, or the filter leaves all of them out. */
function NothingListed({ title }: { title: string | undefined }) {
  if (title === undefined) return <NoMatch title="No request matches" />;
  return (
    <EmptyNote title={title}>
      Requests that wait for a resource appear here, with their position.
    </EmptyNote>
  );
}

const noRequests: readonly WaitingRequest[] = [];

/** A request for several pools stands in the queue of the one that it waits for now. */
function queueNameOf({ items, reason }: WaitingRequest): string {
  return reason.pool ?? items[0]?.pool ?? "";
}

function turnsOf(requests: readonly WaitingRequest[], seesAll: boolean): ReadonlyMap<string, Turn> {
  const inQueueOf = (name: string) => {
    return requests.filter(({ items }) => items.some((item) => item.pool === name)).length;
  };
  return new Map(
    groupedBy(requests, queueNameOf).flatMap(({ name, rows }) => {
      return [...turnsIn(rows, seesAll ? inQueueOf(name) - rows.length : 0)];
    }),
  );
}

/** Its pools, and why it waits: as the list has it, and as the API has it. */
function wordsOf({ items, reason }: WaitingRequest, turn: Turn | undefined): readonly string[] {
  const pools = items.flatMap(({ pool, anyOf = [] }) => [pool, ...anyOf]);
  return [...pools, reason.message, shortQuota(withTurn(reason.message, turn))];
}

function groupsOf(
  requests: readonly WaitingRequest[],
  { by, order }: { readonly by: string; readonly order: string },
  turns: ReadonlyMap<string, Turn>,
): Group<WaitingRequest>[] {
  if (by === "none") return [{ name: "", rows: inListOrder(requests, order) }];
  const oldest = inListOrder(requests, "");
  if (by === "space") return groupedBy(oldest, ({ space }) => space ?? "");
  const place = ({ id }: WaitingRequest) => turns.get(id)?.place ?? 0;
  const inQueue = requests.toSorted((a, b) => place(a) - place(b));
  const groups = groupedBy(inQueue, queueNameOf);
  // Where somebody has waited longest is what needs a look.
  return groups.sort((a, b) => oldestIn(a.rows).localeCompare(oldestIn(b.rows)));
}

function csvRows(requests: readonly WaitingRequest[], turns: ReadonlyMap<string, Turn>) {
  const head = ["position", "holder", "space", "wants", "conditions", "priority", "queuedAt"];
  const rows = requests.map(
    ({ id, position, holder, space = "", items, priority, queuedAt, ...more }) => [
      ...[turns.get(id)?.place ?? position, holder, space],
      items.map(({ pool, count }) => (count === 1 ? pool : `${pool}:${count}`)).join(" "),
      items.map(conditionsText).join("; "),
      ...[priority, queuedAt],
      ...[more.waitedSeconds, more.estimate?.p50Seconds ?? null, more.estimate?.p90Seconds ?? null],
      ...[more.reason.code, more.reason.message],
    ],
  );
  const tail = ["waitedSeconds", "startP50Seconds", "startP90Seconds", "reason", "message"];
  return [[...head, ...tail], ...rows];
}
