import { useState } from "react";
import type { AuditEntry, AuditPage } from "../../../src/api/audit-schemas.ts";
import { auditSummary } from "../../../src/api/audit-summary.ts";
import { limits } from "../../../src/api/limits.ts";
import { useSettled } from "../data/clock.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { auditOf } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { zoneText } from "../parts/clock-time.ts";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { Pick } from "../parts/pick.tsx";
import { Moment } from "../parts/times.tsx";
import { at, useFilter } from "../router.ts";

const everything = "all";

/** The first is what an operator looks for; grants and releases would hide it. */
const actions = [
  ["", "Decisions and refusals"],
  [everything, "Everything"],
  ["resource-changed", "Changed resources"],
  ["lease-revoked", "Leases ended by operators"],
  ["configuration-changed", "Configuration"],
  ["call-refused", "Refused calls"],
  ["sign-in-refused", "Refused credentials"],
  ["lease-granted", "Grants"],
  ["lease-ended", "Ends of leases"],
] as const;

const times = [
  ["", "any time"],
  ...["15m", "1h", "24h", "7d"].map((age) => [age, `the last ${age}`] as const),
] as const;

const settleMs = 300;
const shownAtFirst = 50;

/** Who did what. Only operators may read it. */
export function Audit() {
  const us = useStore(whoami);
  return (
    <>
      <h1>
        Audit <small className="zone">times in {zoneText()}</small>
      </h1>
      {us !== null && !us.operator ? (
        <EmptyNote title="Only operators can read who did what">{us.refusal}</EmptyNote>
      ) : (
        <Entries />
      )}
    </>
  );
}

function Entries() {
  const [text] = useFilter("q");
  const [by] = useFilter("by");
  const [action] = useFilter("action");
  const [since] = useFilter("since");
  const [limit, setLimit] = useState(shownAtFirst);
  const filter = {
    limit,
    text: useSettled(text, settleMs) || undefined,
    by: useSettled(by, settleMs) || undefined,
    since: since || undefined,
    ...(action === "" ? { kind: "decisions" as const } : undefined),
    action: action === "" || action === everything ? undefined : action,
  };
  const { data: live, error } = useAnswer(auditOf(filter));
  const [paused, setPaused] = useState<AuditPage>();
  const data = paused ?? live;
  return (
    <>
      <div className="tools">
        <FilterBox label="Filter by name or reason" />
        <FilterBox label="Exact caller" name="by" hint={false} suggested={callersIn(data)} />
        <Pick name="action" label="Action" options={actions} />
        <Pick name="since" label="Time" options={times} />
        <CsvButton name="audit" rows={() => csvRows(data?.items ?? [])} />
        <button
          type="button"
          aria-pressed={paused !== undefined}
          onClick={() => setPaused(paused === undefined ? live : undefined)}
        >
          {paused === undefined ? "Pause" : "Resume"}
        </button>
      </div>
      <ProblemNote error={error} />
      {data === undefined ? (
        <Loading error={error} />
      ) : data.items.length === 0 ? (
        <EmptyNote title={action === "" ? "No decision matches" : "No entry matches"}>
          {action === "" ? (
            <>
              Changes with a reason, of the configuration, and refused calls appear here; choose{" "}
              <b>Everything</b> to see grants and releases too.
            </>
          ) : (
            <>
              Every change appears here; <code>berth audit</code> prints the same entries.
            </>
          )}
        </EmptyNote>
      ) : (
        <AuditTable entries={data.items} />
      )}
      {!data?.next ? null : limit < limits.pageSizeMax ? (
        <button
          type="button"
          className="more"
          onClick={() => setLimit(Math.min(limits.pageSizeMax, limit * 4))}
        >
          Show older entries
        </button>
      ) : (
        <p className="calm">
          Older entries are not shown; <code>berth audit</code> searches all of them.
        </p>
      )}
    </>
  );
}

/** Of the entries that are shown, by name. */
function callersIn(page: AuditPage | undefined): string[] {
  return [...new Set((page?.items ?? []).flatMap(({ by }) => by ?? []))].sort();
}

function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <table className="audit stack">
      <thead>
        <tr>
          <th scope="col">At</th>
          <th scope="col">By</th>
          <th scope="col">What happened</th>
          <th scope="col">To</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.number} data-row>
            <td>
              <Moment at={entry.at} />
            </td>
            <th scope="row">
              <Caller entry={entry} />
            </th>
            <td className={isRefusal(entry) ? "late" : undefined}>{wordsOf(entry)}</td>
            <td className="wants">
              <Objects entry={entry} />
            </td>
            <td className="words">
              <bdi>{whyOf(entry)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `lease-granted` is the name in the API and in filters; people read words. */
function wordsOf({ action }: AuditEntry): string {
  return action.replaceAll("-", " ");
}

/** `hold` is the name in the API. */
function whyOf(entry: AuditEntry): string {
  const summary = auditSummary(entry);
  return summary === "hold" && entry.reason === undefined ? "auto-released" : summary;
}

function isRefusal({ action }: AuditEntry): boolean {
  return action.endsWith("-refused");
}

/** A release with the token of the lease proves no name, but that it is the holder's. */
function callerOf({ by, way, lease }: AuditEntry): string {
  if (by !== undefined) return by;
  if (way === "clock") return "Berth";
  return lease === undefined ? "unnamed" : "the holder";
}

function csvRows(entries: readonly AuditEntry[]) {
  const head = ["number", "at", "by", "as", "way", "space", "action", "resources", "lease"];
  const rows = entries.map((entry) => [
    ...[entry.number, entry.at, entry.by ?? "", entry.as ?? "", entry.way, entry.space ?? ""],
    ...[entry.action, (entry.resources ?? []).join(" "), entry.lease ?? "", entry.holder ?? ""],
    auditSummary(entry),
  ]);
  return [[...head, "holder", "reason"], ...rows];
}

/** Names come from callers, so each is isolated: it cannot turn the text around it. */
function Caller({ entry }: { readonly entry: AuditEntry }) {
  const { as, way, space } = entry;
  return (
    <>
      <bdi>{callerOf(entry)}</bdi>
      {as === undefined ? null : (
        <>
          {" "}
          (<bdi>{as}</bdi>)
        </>
      )}
      <small className="faint">
        {space === undefined ? "" : `, of space ${space}`}, by {ways[way] ?? way}
      </small>
    </>
  );
}

/** How the call came; others are words already. */
const ways: Readonly<Record<string, string>> = { clock: "its clock", config: "the file" };

function Objects({
  entry: { resources, lease, holder, pools, detail },
}: {
  readonly entry: AuditEntry;
}) {
  const [resource] = resources ?? [];
  const more =
    resources === undefined || resources.length < 2 ? "" : ` and ${resources.length - 1} more`;
  const [pool] = pools ?? [];
  return (
    <>
      {resource !== undefined ? (
        <Link href={at("resources", resource)}>{resource}</Link>
      ) : lease === undefined && pool !== undefined ? (
        <Link href={at("pools", pool)}>{pool}</Link>
      ) : null}
      {more}
      {lease === undefined ? null : (
        <>
          {" "}
          <Link href={at("leases", lease)} className="faint">
            <bdi>{holder ?? lease}</bdi>
          </Link>
        </>
      )}
      {detail?.["call"] === undefined ? null : <code>{String(detail["call"])}</code>}
    </>
  );
}
