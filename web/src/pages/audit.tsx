import { Fragment } from "react";
import { auditName } from "../../../src/api/audit-caller.ts";
import type { AuditEntry, AuditPage } from "../../../src/api/audit-schemas.ts";
import { auditSummary } from "../../../src/api/audit-summary.ts";
import { auditVerb, auditWords } from "../../../src/api/audit-words.ts";
import type { AuditFilter } from "../../../src/client/calls.ts";
import { berth } from "../data/berth.ts";
import { useSettled } from "../data/clock.ts";
import { whoami } from "../data/live.ts";
import { useOlder } from "../data/older.ts";
import { usePause } from "../data/pause.ts";
import { useAnswer } from "../data/query.ts";
import { auditOf, poolNames } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { zoneText } from "../parts/clock-time.ts";
import { CsvButton } from "../parts/csv-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { Name } from "../parts/name.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { OlderButton } from "../parts/older-button.tsx";
import { rowsAtFirst } from "../parts/phone.ts";
import { Pick } from "../parts/pick.tsx";
import { PickName } from "../parts/pick-name.tsx";
import { PickTime } from "../parts/pick-time.tsx";
import { Moment } from "../parts/times.tsx";
import { at, useFilter } from "../router.ts";
import { withWholeConfigurations } from "./audit-folds.ts";

const everything = "all";

/** The first is what an operator looks for; grants and releases would hide it. */
const actions = [
  ["", "Decisions and refusals"],
  [everything, "Everything"],
  ["resource-changed", "Resources changed"],
  ["lease-revoked", "Leases ended by operators"],
  ["configuration-changed", "Configuration"],
  ["call-refused", "Refused calls"],
  ["sign-in-refused", "Refused credentials"],
  ["lease-granted", "Grants"],
  ["lease-ended", "Ends of leases"],
] as const;

const settleMs = 300;
const entriesPerPage = 50;

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

/** All of them are for the server: it searches every entry that is kept. */
function useAuditFilter(): AuditFilter {
  const [text] = useFilter("q");
  const [by] = useFilter("by");
  const [pool] = useFilter("pool");
  const [action] = useFilter("action");
  const [since] = useFilter("since");
  const [until] = useFilter("until");
  return {
    limit: rowsAtFirst(entriesPerPage),
    text: useSettled(text, settleMs) || undefined,
    caller: useSettled(by, settleMs) || undefined,
    pool: pool || undefined,
    since: since || undefined,
    until: until || undefined,
    ...(action === "" ? { kind: "decisions" as const } : undefined),
    action: action === "" || action === everything ? undefined : action,
  };
}

function Entries() {
  const filter = useAuditFilter();
  const key = JSON.stringify(filter);
  const { data: live, error } = useAnswer(auditOf(filter));
  const { data: pools = [] } = useAnswer(poolNames);
  const pause = usePause(key, live);
  const older = useOlder(key, (after) => berth.audit({ ...filter, after }));
  const first = pause.page ?? live;
  const next = older.next === undefined ? first?.next : older.next;
  const entries = first === undefined ? undefined : [...first.items, ...older.items];
  const resume = () => {
    pause.resume();
    older.reset();
  };
  return (
    <>
      <div className="tools narrow">
        <FilterBox label="Filter by verb, name or reason" />
        <FilterBox label="Caller" name="by" hint={false} suggested={callersIn(entries)} />
        <PickName name="pool" label="Pool" names={pools} />
        <Pick name="action" label="Action" options={actions} />
        <PickTime />
        <CsvButton name="audit" rows={() => csvRows(entries ?? [])} />
        <button
          type="button"
          aria-pressed={pause.isPaused}
          onClick={pause.isPaused ? resume : pause.pause}
        >
          {pause.isPaused ? `Resume${pause.page ? newText(pause.page, live) : ""}` : "Pause"}
        </button>
      </div>
      <ProblemNote error={error} />
      {entries === undefined ? (
        <Loading error={error} />
      ) : entries.length === 0 ? (
        <NoEntry isDecisions={filter.kind === "decisions"} isAll={next === null} />
      ) : (
        <AuditTable entries={withWholeConfigurations(entries)} />
      )}
      {first === undefined || (entries?.length === 0 && first.next === null) ? null : (
        <OlderButton older={older} next={first.next} onFirst={() => pause.keep(first)} />
      )}
    </>
  );
}

interface NoEntryProps {
  readonly isDecisions: boolean;
  /** Whether older ones were searched too. */
  readonly isAll: boolean;
}

function NoEntry({ isDecisions, isAll }: NoEntryProps) {
  const among = isAll ? "" : " among the latest";
  if (!isDecisions) {
    return (
      <EmptyNote title={`No entry${among} matches`}>
        Every change appears here; <code>berth audit</code> prints the same entries.
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title={`No decision${among} matches`}>
      Changes with a reason, of the configuration, and refused calls appear here; choose{" "}
      <b>Everything</b> to see grants and releases too.
    </EmptyNote>
  );
}

/** The newest entry is first. */
function newText({ items: [first] }: AuditPage, live: AuditPage | undefined): string {
  const items = live?.items ?? [];
  const count = items.findIndex(({ number }) => number === first?.number);
  if (count === -1) return items.length === 0 ? "" : ` (more than ${items.length} new)`;
  return count === 0 ? "" : ` (${count} new)`;
}

/** Of the entries that are shown, by name. */
function callersIn(entries: readonly AuditEntry[] = []): string[] {
  return [...new Set(entries.flatMap(({ by, as }) => [by ?? [], as ?? []].flat()))].sort();
}

function AuditTable({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <table className="audit stack">
      <thead>
        <tr>
          <th scope="col">At</th>
          <th scope="col">Who</th>
          <th scope="col">Did what</th>
          <th scope="col">Why</th>
          <th scope="col">Through</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.number} data-row className={`tone-${toneOf(entry)}`}>
            <td className="time">
              <Moment at={entry.at} />
            </td>
            <th scope="row">
              <Caller entry={entry} />
            </th>
            <td className="did">
              <Sentence entry={entry} />
            </td>
            <td className={whyOf(entry) === "" ? "words no-why" : "words"}>
              {whyOf(entry) === "" ? <span className="faint">–</span> : <bdi>{whyOf(entry)}</bdi>}
            </td>
            <td className={`through faint way-${entry.way}`}>{ways[entry.way] ?? entry.way}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The dot before the time: what somebody should look at is coloured. */
function toneOf({ action, detail }: AuditEntry): "late" | "bad" | "plain" {
  if (action.endsWith("-refused")) return "late";
  return detail?.["state"] === "quarantined" ? "bad" : "plain";
}

/** How it was refused is in the details; what a configuration has changed is in the sentence. */
function whyOf(entry: AuditEntry): string {
  const { reason, detail, action } = entry;
  if (reason !== undefined) return reason;
  if (action !== "call-refused") return "";
  const { role, address } = detail ?? {};
  const who = role === undefined ? "no token of the lease" : `the role ${String(role)} may not`;
  return address === undefined ? who : `${who}, from ${String(address)}`;
}

function csvRows(entries: readonly AuditEntry[]) {
  const head = ["number", "at", "by", "as", "way", "space", "action", "did", "resources", "lease"];
  const rows = entries.map((entry) => [
    ...[entry.number, entry.at, entry.by ?? "", entry.as ?? "", entry.way, entry.space ?? ""],
    ...[entry.action, auditVerb(entry), (entry.resources ?? []).join(" "), entry.lease ?? ""],
    ...[entry.holder ?? "", auditSummary(entry)],
  ]);
  return [[...head, "holder", "reason"], ...rows];
}

/** Names come from callers, so each is isolated: it cannot turn the text around it. */
function Caller({ entry }: { readonly entry: AuditEntry }) {
  const { as, space } = entry;
  return (
    <>
      <Name name={auditName(entry)} />
      {as === undefined ? null : (
        <>
          {" "}
          (<Name name={as} />)
        </>
      )}
      {space === undefined ? null : (
        <small className="faint caller-space">
          {" "}
          of space <Name name={space} />
        </small>
      )}
    </>
  );
}

/** How the call came. */
const ways: Readonly<Record<string, string>> = {
  http: "HTTP API",
  cli: "command line",
  page: "page",
  boskos: "Boskos API",
  capacity: "capacity API",
  "lease-proxy": "lease proxy",
  config: "configuration",
  worker: "worker",
  object: "Kubernetes object",
  clock: "queue and clock",
};

function Sentence({ entry }: { readonly entry: AuditEntry }) {
  return (
    <>
      {auditWords(entry).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence do not move.
        <Fragment key={index}>
          {typeof part === "string" ? (
            part
          ) : part.of === "holder" ? (
            <Holder entry={entry} />
          ) : (
            <Objects entry={entry} of={part.of} />
          )}
        </Fragment>
      ))}
      {entry.action === "configuration-changed" ? <Configured entry={entry} /> : null}
    </>
  );
}

function Holder({ entry: { lease, holder } }: { readonly entry: AuditEntry }) {
  const name = <Name name={holder ?? lease ?? ""} />;
  return lease === undefined ? name : <Link href={at("leases", lease)}>{name}</Link>;
}

/** More of them are in the title. */
const namedMax = 3;

interface ObjectsProps {
  readonly entry: AuditEntry;
  readonly of: "resources" | "pools";
}

function Objects({ entry, of }: ObjectsProps) {
  const view = entry[of] === undefined ? "pools" : of;
  const names = entry[view] ?? [];
  if (names.length === 0) return "nothing that is left";
  return <Names view={view} names={names} isAll={entry.detail?.["unnamed"] === undefined} />;
}

interface NamesProps {
  readonly view: "resources" | "pools";
  readonly names: readonly string[];
  /** Whether there are no others. */
  readonly isAll: boolean;
}

function Names({ view, names, isAll }: NamesProps) {
  const more = names.length - namedMax;
  return (
    <>
      {names.slice(0, namedMax).map((name, index) => (
        <Fragment key={name}>
          {index === 0 ? "" : ", "}
          <Link href={at(view, name)}>{name}</Link>
        </Fragment>
      ))}
      {more <= 0 && isAll ? null : (
        <span title={names.join(", ")}>{isAll ? ` and ${more} more` : " and others"}</span>
      )}
    </>
  );
}

/** The pools that a configuration has changed. */
function Configured({ entry: { pools, detail } }: { readonly entry: AuditEntry }) {
  if (pools === undefined || pools.length === 0) return null;
  return (
    <small className="faint">
      {" "}
      in <Names view="pools" names={pools} isAll={detail?.["unnamed"] === undefined} />
    </small>
  );
}
