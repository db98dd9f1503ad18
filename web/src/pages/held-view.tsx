import { useEffect } from "react";
import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import type { Lease } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { leaseOrRequest, past } from "../data/questions.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, inWholeSeconds, inWords, Left, Moment } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { endLeaseAction, lendAgainAction } from "./actions.ts";
import { endOf, expiryBefore, expiryOf, pulseOf } from "./lease-ends.ts";
import { useHeartbeat, useSilence } from "./lease-times.tsx";
import { LifeBar } from "./life-bar.tsx";
import { ReleasedTable } from "./past-table.tsx";

export function HeldView({ lease }: { lease: Lease }) {
  const { id, holder, priority, labels, space, revokedAt } = lease;
  const over = useReleased(lease);
  const isEmpty = lease.claims.length === 0;
  const until = isEmpty ? lastEnd(over) : undefined;
  return (
    <>
      <PageHead
        title={holder}
        chip={
          <StateChip
            state={revokedAt !== null ? "revoking" : isEmpty ? "open, holds nothing" : "held"}
          />
        }
      >
        <ActionButton
          action={revokedAt === null ? endLeaseAction(lease) : lendAgainAction(lease)}
        />
      </PageHead>
      <Ending lease={lease} />
      <Silence lease={lease} />
      <Figures label="The lease in numbers" figures={useFigures(lease, until)} />
      <LifeBar lease={lease} heldUntil={until} />
      <section aria-labelledby="claims-title">
        <h2 id="claims-title">
          Holds <small>{lease.claims.length}</small>
        </h2>
        {lease.claims.length === 0 ? (
          <p className="calm">All of it is released, and the lease is still open.</p>
        ) : (
          <Claims claims={lease.claims} />
        )}
        {over.length === 0 ? null : <Released entries={over} />}
      </section>
      <section aria-labelledby="about-title">
        <h2 id="about-title">About it</h2>
        <Facts
          label="About it"
          facts={[
            ["Id", <code key="id">{id}</code>],
            space !== undefined && ["Space", space],
            ["Priority", priority],
            ["Heartbeat timeout", expiryOf(lease) === null ? "none" : (lease.ttl ?? "none")],
            ...Object.entries(labels).map(([key, value]): [string, string] => [key, value]),
          ]}
        />
      </section>
    </>
  );
}

/** Why it will end soon: an operator has ended it, or its pool takes it back. */
function Ending({ lease: { notice, revokedAt, expiresAt } }: { lease: Lease }) {
  if (revokedAt !== null) {
    return (
      <p className="callout">
        An operator ended it at <Moment at={revokedAt} />. Its job may work for another{" "}
        <Left until={expiresAt} />. The resources are lent again after that, or as soon as the job
        releases them.
      </p>
    );
  }
  if (notice === undefined) return null;
  return (
    <p className="callout">
      Its pool takes it back by <Moment at={notice.endsBy} />: {notice.reason}.
    </p>
  );
}

/** Nobody waits until a job has lost its resources without knowing it. */
function Silence({ lease }: { lease: Lease }) {
  const { isSilent } = useSilence(lease);
  if (!isSilent) return null;
  return (
    <p className="callout">
      <b>Its holder is silent.</b>
      Two of three heartbeats are missed. Without one it expires in <Left until={lease.expiresAt} />
      , and its resources are lent to others.
    </p>
  );
}

/**
 * What it held before. If the history has the end of a claim that the lease still has, the lease is the older
 * answer of the two: it is read again, and the claim is not listed twice.
 */
function useReleased({ id, claims }: Lease): readonly HistoryEntry[] {
  const { data } = useAnswer(past({ id }));
  const { refresh } = useAnswer(leaseOrRequest(id));
  const held = new Set(claims.map((claim) => claim.id));
  const entries = (data?.items ?? []).filter(({ resource }) => resource !== null);
  const over = entries.filter(({ claim }) => claim === null || !held.has(claim));
  const isOlder = over.length < entries.length;
  useEffect(() => {
    if (isOlder) refresh();
  }, [isOlder, refresh]);
  return over;
}

/** Below the word, because it is long. */
function OrExpires({ lease }: { lease: Lease }) {
  const expiresAt = expiryBefore(endOf(lease), lease);
  if (expiresAt === null) return null;
  return (
    <span className="below">
      or <Moment at={expiresAt} /> without a heartbeat
    </span>
  );
}

/** When it gave back the last of what it held. */
function lastEnd(entries: readonly HistoryEntry[]): string | undefined {
  return entries
    .map(({ endedAt }) => endedAt)
    .toSorted()
    .at(-1);
}

/** `until`: when it gave back the last that it held, if it has nothing. */
function useFigures(lease: Lease, until: string | undefined): Figure[] {
  const pulse = pulseOf(lease);
  const { isSilent } = useSilence(lease);
  const end = endOf(lease);
  const { last, next } = useHeartbeat(lease);
  return [
    until === undefined
      ? { label: "Held for", value: <Age since={lease.grantedAt} /> }
      : {
          label: "Held for",
          value: inWholeSeconds((Date.parse(until) - Date.parse(lease.grantedAt)) / 1_000),
          aside: (
            <>
              until <Moment at={until} />
            </>
          ),
        },
    { label: "Waited", value: inWords(lease.waitedSeconds) },
    pulse === null
      ? { label: "Last heartbeat", value: "–", aside: "none needed" }
      : { label: "Last heartbeat", value: last, aside: next, bad: isSilent },
    end === null
      ? { label: "Ends", value: "on release", aside: <OrExpires lease={lease} /> }
      : {
          label: "Ends in",
          value: <Left until={end.at} />,
          aside: (
            <>
              {end.why}
              <OrExpires lease={lease} />
            </>
          ),
        },
  ];
}

/** What it held before: its pool takes claims back one by one, or its holder returns them so. */
function Released({ entries }: { entries: readonly HistoryEntry[] }) {
  return (
    <>
      <h3>
        Held before <small>{entries.length}</small>
      </h3>
      <ReleasedTable entries={entries} timed />
    </>
  );
}

function Claims({ claims }: Pick<Lease, "claims">) {
  const isShare = claims.some(({ amount }) => amount !== undefined);
  const isTimed = claims.some(({ heldUntil }) => heldUntil !== null);
  return (
    <table className="claims stack">
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Pool</th>
          {isShare ? <th scope="col">Amount</th> : null}
          <th
            scope="col"
            className="number"
            title="fence: grows with every lease of the resource, so that a provider can refuse an older holder"
          >
            Fencing token
          </th>
          {isTimed ? (
            <th scope="col" className="number">
              Auto-release in
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {claims.map((claim) => (
          <tr key={claim.id} data-row>
            <th scope="row">
              <Link href={at("resources", claim.resource)}>{claim.resource}</Link>
            </th>
            <td>
              <Link href={at("pools", claim.pool)}>{claim.pool}</Link>
            </td>
            {isShare ? <td>{amountText(claim.amount)}</td> : null}
            <td className="number" data-label="Fencing token">
              {claim.fence}
            </td>
            {isTimed ? (
              <td className="number" data-label="Auto-release in">
                <Left until={claim.heldUntil} />
              </td>
            ) : null}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
