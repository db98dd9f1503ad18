import type { Lease } from "../../../src/api/schemas.ts";
import { parseDuration } from "../../../src/core/model/time.ts";
import { useNowMs } from "../data/clock.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, inWords, Left, Moment } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";
import { endLeaseAction, freeRevokedAction } from "./actions.ts";
import { Timeline } from "./timeline.tsx";

export function HeldView({ lease }: { lease: Lease }) {
  const { id, holder, priority, labels, ttl, expiresAt, endsAt, waitedSeconds, revokedAt } = lease;
  const isShare = lease.claims.some(({ amount }) => amount !== undefined);
  return (
    <>
      <h1>
        {holder} <StateChip state={revokedAt === null ? "leased" : "revoking"} />
      </h1>
      {lease.notice === undefined || revokedAt !== null ? null : (
        <p className="lead">
          Its pool takes it back by <Moment at={lease.notice.endsBy} />: {lease.notice.reason}.
        </p>
      )}
      {revokedAt === null ? null : (
        <p className="aside-note">
          An operator ended it at <Moment at={revokedAt} />. Its job may work for another{" "}
          <Left until={expiresAt} />. The resources are lent again after that, or as soon as the job
          releases them.
        </p>
      )}
      <p className="lead">
        {holder} has held {lease.claims.map(({ resource }) => resource).join(", ")} for{" "}
        <Age since={lease.grantedAt} />, after waiting {inWords(waitedSeconds)}.{" "}
        {expiresAt === null ? "It needs no heartbeat." : null}
        {endsAt === null ? "It has no max lifetime." : null}
      </p>
      <div className="buttons start">
        <ActionButton
          action={revokedAt === null ? endLeaseAction(lease) : freeRevokedAction(lease)}
        />
      </div>
      <Timeline
        steps={[
          { label: "asked", at: lease.queuedAt },
          { label: "granted", at: lease.grantedAt },
          { label: "now", at: null },
          ...(endsAt === null ? [] : [{ label: "ends", at: endsAt }]),
        ]}
      />
      {revokedAt === null ? <HeartbeatGauge ttl={ttl} expiresAt={expiresAt} /> : null}
      <Facts
        label="About it"
        facts={[
          ["Id", <code key="id">{id}</code>],
          ["Priority", priority],
          ["Asked", <Moment key="q" at={lease.queuedAt} />],
          ["Granted", <Moment key="g" at={lease.grantedAt} />],
          endsAt !== null && ["Max lifetime left", <Left key="e" until={endsAt} />],
          ...Object.entries(labels).map(([key, value]): [string, string] => [key, value]),
        ]}
      />
      <h2>Claims</h2>
      <table className="claims stack">
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Pool</th>
            {isShare ? <th scope="col">Amount</th> : null}
            <th scope="col" className="number">
              Fence
            </th>
            <th scope="col" className="number">
              Auto-release in
            </th>
          </tr>
        </thead>
        <tbody>
          {lease.claims.map((claim) => (
            <tr key={claim.id} data-row>
              <th scope="row">
                <Link href={at("resources", claim.resource)}>{claim.resource}</Link>
              </th>
              <td>
                <Link href={at("pools", claim.pool)}>{claim.pool}</Link>
              </td>
              {isShare ? <td>{amountText(claim.amount)}</td> : null}
              <td className="number" data-label="Fence">
                {claim.fence}
              </td>
              <td className="number" data-label="Auto-release in">
                <Left until={claim.heldUntil} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The time since the last heartbeat: full after a heartbeat, empty when the lease expires. */
function HeartbeatGauge({ ttl, expiresAt }: { ttl: string | null; expiresAt: string | null }) {
  const now = useNowMs();
  if (ttl === null || expiresAt === null) return null;
  const ttlMs = parseDuration(ttl) ?? 1;
  const leftMs = Math.max(0, Date.parse(expiresAt) - now);
  const share = Math.min(1, leftMs / ttlMs);
  return (
    <p className={share < 0.34 ? "gauge low" : "gauge"}>
      <span className="gauge-track">
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </span>
      <span>
        Last heartbeat {inWords(Math.round((ttlMs - leftMs) / 1_000))} ago; without another one the
        lease expires in <Left until={expiresAt} />
      </span>
    </p>
  );
}
