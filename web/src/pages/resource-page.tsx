import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Resource } from "../../../src/api/schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { eventsAbout, onePool, oneResource, queueOf, upkeepOf } from "../data/questions.ts";
import { ActionButtons, NoActionsNote } from "../parts/action-button.tsx";
import { CapacityBars } from "../parts/capacity-bars.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped, percentInUse } from "../parts/numbers.ts";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { stateName } from "../parts/state-look.ts";
import { Age, inWords, Left, Moment } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { actionsFor } from "./actions.ts";
import { Estimate } from "./estimate.tsx";
import { EventsAbout } from "./event-list.tsx";
import { holdersOf, ResourceDays, useAddedMs, weekHours } from "./resource-days.tsx";
import {
  drainWords,
  longCleaningMs,
  quarantineOf,
  usedPart,
  usualIfLong,
} from "./resource-facts.ts";

export function ResourcePage({ name }: { name: string }) {
  const { data: resource, error } = useAnswer(oneResource(name));
  const pool = resource?.pool;
  return (
    <>
      <Crumbs trail={[["Pools", "/"], ...(pool ? [[pool, at("pools", pool)] as const] : [])]} />
      <PageHead title={name} chip={resource === undefined ? null : <States resource={resource} />}>
        {resource === undefined ? null : <Actions resource={resource} />}
      </PageHead>
      <ProblemNote error={error} />
      {error === undefined ? <AskAhead name={name} /> : null}
      {resource === undefined ? <Loading error={error} /> : <View resource={resource} />}
    </>
  );
}

/** All that the view needs is asked for at once, and not when the resource is known. */
function AskAhead({ name }: { name: string }) {
  useAnswer(eventsAbout({ resource: name }));
  useAnswer(holdersOf(name, weekHours));
  return null;
}

/** `held` and `drained` at the same time: a holder keeps what is drained. A shared one says how full it is. */
function States({ resource }: { resource: Resource }) {
  const { state, drained } = resource;
  const part = state === "drained" ? undefined : usedPart(resource);
  return (
    <>
      {part === undefined || part === 0 ? (
        <StateChip state={state} />
      ) : (
        <span className="chip look-held">
          <i aria-hidden="true" />
          {part >= 1 ? "full" : `${percentInUse(part)} in use`}
        </span>
      )}
      {drained && state !== "drained" ? <StateChip state="drained" /> : null}
    </>
  );
}

/** What can be done with it; the actions on its lease are on the page of the lease. */
function Actions({ resource }: { resource: Resource }) {
  const { lease } = resource;
  return (
    <>
      {lease === null || lease.id === "" ? null : (
        <Link className="act" href={at("leases", lease.id)}>
          {resource.state === "cleaning" ? "Lease of its cleaner" : "Its lease"}
        </Link>
      )}
      <ActionButtons actions={actionsFor(resource)} />
    </>
  );
}

function View({ resource }: { resource: Resource }) {
  const { name, lease, labels, drained, retiring, shares = [] } = resource;
  return (
    <>
      <NoActionsNote />
      {drained ? (
        <p className={lease === null ? "callout calm-callout" : "callout"}>
          <b>Drained.</b>
          {lease === null
            ? "It is not lent until somebody undrains it. "
            : "It is not lent again after its release. "}
          {drainWords(resource)}
        </p>
      ) : null}
      {retiring ? (
        <p className="callout">It is removed from the configuration, and leaves on its release.</p>
      ) : null}
      {resource.state === "quarantined" ? <Quarantine resource={resource} /> : null}
      {resource.state === "cleaning" ? <LongCleaning resource={resource} /> : null}
      <Note resource={resource} />
      <Figures label={`${name} in numbers`} figures={useFigures(resource)} />
      {resource.usage === undefined ? null : (
        <CapacityBars usage={resource.usage} shares={resource.shares} />
      )}
      <Reservations resource={resource} />
      {shares.length === 0 ? null : <Shares shares={shares} />}
      <ResourceDays resource={resource} />
      {Object.keys(labels).length === 0 ? null : (
        <section aria-labelledby="labels-title">
          <h2 id="labels-title">Labels</h2>
          <Facts label="Labels" facts={Object.entries(labels)} />
        </section>
      )}
      <EventsAbout key={name} subject={{ resource: name }} />
    </>
  );
}

/** Who has it, since when, and what was before. */
function useFigures(resource: Resource): Figure[] {
  const { name, state, lease, shares, usage = [], changedAt, restsUntil } = resource;
  const { data: past } = useAnswer(holdersOf(name, weekHours));
  const last = past?.items.find(isPastHold);
  const inState = { label: `${capital(stateName(state))} for`, value: <Age since={changedAt} /> };
  if (shares !== undefined) return sharedFigures(shares, usage, changedAt);
  if (lease !== null) {
    const isCleaning = state === "cleaning";
    const who = isCleaning ? "Cleaned" : "Held";
    return [
      {
        label: `${who} by`,
        value: <Link href={at("leases", lease.id)}>{lease.holder}</Link>,
      },
      { label: `${who} for`, value: <Age since={lease.since} /> },
      lease.endsAt === null
        ? { label: "Comes back", value: isCleaning ? "when it is clean" : "on release" }
        : { label: "Comes back in", value: <Left until={lease.endsAt} />, aside: "at the latest" },
    ];
  }
  const rests = { label: "Free in", value: <Left until={restsUntil} /> };
  return [
    inState,
    ...(restsUntil === null || resource.drained ? [] : [rests]),
    past === undefined
      ? { label: "Last held by", value: "…" }
      : last === undefined
        ? { label: "Last held by", value: "–", aside: <SinceWhen name={name} /> }
        : {
            label: "Last held by",
            value: <Link href={at("leases", last.id)}>{last.holder}</Link>,
            aside: `for ${inWords(last.holdSeconds)}`,
          },
  ];
}

function sharedFigures(
  shares: NonNullable<Resource["shares"]>,
  usage: NonNullable<Resource["usage"]>,
  changedAt: string,
): Figure[] {
  const part = ({ used, capacity }: (typeof usage)[number]) => used / Math.max(1e-9, capacity);
  const [fullest] = usage.toSorted((a, b) => part(b) - part(a));
  const [oldest] = shares.toSorted((a, b) => a.since.localeCompare(b.since));
  return [
    { label: "Holders", value: shares.length },
    ...(fullest === undefined
      ? []
      : [
          {
            label: `Most in use: ${fullest.dimension}`,
            value: percentInUse(part(fullest)),
            aside: `${grouped(fullest.used)} of ${grouped(fullest.capacity)}`,
          },
        ]),
    oldest === undefined
      ? { label: "Longest hold", value: "–", aside: "nobody holds it" }
      : { label: "Longest hold", value: <Age since={oldest.since} />, aside: oldest.holder },
    { label: "Last grant or release", value: <Age since={changedAt} />, aside: "ago" },
  ];
}

/** Cleaning is no hold. */
function isPastHold({ grantedAt, purpose }: HistoryEntry): boolean {
  return grantedAt !== null && purpose === "use";
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** Who put it there, what they say, and what to do. */
function Quarantine({ resource: { name, note } }: { resource: Resource }) {
  const { data } = useAnswer(eventsAbout({ resource: name }));
  const found = quarantineOf(name, data?.items ?? []);
  const isByCleaner = found?.lease !== undefined;
  return (
    <section className="callout bad-callout" aria-labelledby="note-title">
      <h2 id="note-title">
        Quarantined
        {isByCleaner ? " after a failed cleaning" : found?.by ? ` by ${found.by}` : ""}
        {found?.why ? `: ${found.why}` : ""}
      </h2>
      {note === "" ? null : <pre>{note}</pre>}
      <p>
        {found?.lease === undefined ? null : (
          <>
            The output of <Link href={at("leases", found.lease)}>{found.by}</Link> at{" "}
            <Moment at={found.at} />.{" "}
          </>
        )}
        It is not lent until somebody returns it to service: fix the cause first.
      </p>
    </section>
  );
}

/** A cleaner that hangs keeps the resource from everybody, and looks like one that works. */
function LongCleaning({ resource }: { resource: Resource }) {
  const { pool, changedAt, lease } = resource;
  const nowMs = useNowMs();
  const isLong = nowMs - Date.parse(changedAt) >= longCleaningMs;
  const { data } = useAnswer(upkeepOf(isLong ? [pool] : []));
  const usual = usualIfLong(resource, data?.get(pool)?.cleaningSeconds, nowMs);
  if (usual === undefined || lease === null) return null;
  return (
    <p className="callout">
      <b>This cleaning takes long: usually {inWords(usual)}.</b> Look at its cleaner, or end{" "}
      <Link href={at("leases", lease.id)}>its lease</Link>.
    </p>
  );
}

/** What somebody has written about it. */
function Note({ resource: { note, state } }: { resource: Resource }) {
  if (note === "" || state === "quarantined") return null;
  return (
    <section className="callout calm-callout" aria-labelledby="note-title">
      <h2 id="note-title">Note</h2>
      <pre>{note}</pre>
    </section>
  );
}

/** How far back is known who held it: not before it was there. */
function SinceWhen({ name }: { name: string }) {
  const addedMs = useAddedMs(name);
  if (addedMs === undefined || addedMs < serverNowMs() - weekHours * 3_600_000) {
    return "nobody in 7 days";
  }
  return (
    <>
      nobody since it was added, <Age since={new Date(addedMs).toISOString()} /> ago
    </>
  );
}

/** The requests that start on it as soon as enough has come free, as they stand in the queue. */
function Reservations({ resource }: { resource: Resource }) {
  return resource.reservations?.length ? <Reserved {...resource} /> : null;
}

function Reserved({ pool, reservations = [] }: Resource) {
  const { data: queue = [] } = useAnswer(queueOf(pool));
  const placeOf = new Map(queue.map(({ id }, index) => [id, index] as const));
  const last = queue.length;
  const ordered = reservations.toSorted(
    (a, b) => (placeOf.get(a.id) ?? last) - (placeOf.get(b.id) ?? last),
  );
  return (
    <section aria-labelledby="reserved-title">
      <h2 id="reserved-title">
        Reserved for <small>{grouped(reservations.length)}</small>
      </h2>
      <p className="calm">
        These requests have waited longer than the <PatienceOf pool={pool} />, and start here when
        enough has come free, or elsewhere if they fit there first. Requests behind them get only
        what is left beside them.
      </p>
      <ol className="rows gate" aria-label="Reserved for requests">
        {ordered.map(({ id, holder, amount }, index) => {
          const request = queue.find((one) => one.id === id);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: those of other spaces have no id.
            <li key={`${id} ${index}`} data-row>
              {id === "" ? holder : <Link href={at("requests", id)}>{holder}</Link>}{" "}
              <span className="faint">{amountText(amount)}</span>
              {request === undefined ? null : (
                <span className="faint">
                  waits <Age since={request.queuedAt} />, starts{" "}
                  <Estimate request={request} turn={undefined} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** `patience of lab-vsphere (10m)`: its key, and how long that is. */
function PatienceOf({ pool }: { pool: string }) {
  const patience = useAnswer(onePool(pool)).data?.policy.patience ?? "";
  return (
    <>
      patience of <Link href={at("pools", pool)}>{pool}</Link>
      {patience === "" ? "" : ` (${patience})`}
    </>
  );
}

function Shares({ shares }: { shares: NonNullable<Resource["shares"]> }) {
  return (
    <section aria-labelledby="now-title">
      <h2 id="now-title">
        Held now by <small>{grouped(shares.length)}</small>
      </h2>
      <ol className="rows gate" aria-label="Use by holder">
        {shares.map(({ id, holder, amount, since }, index) => (
          // One lease may have several claims on one resource.
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and no state.
          <li key={`${id} ${index}`} data-row>
            <Link href={at("leases", id)}>{holder}</Link>{" "}
            <span className="faint">{amountText(amount)}</span>
            <span className="faint">
              for <Age since={since} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
