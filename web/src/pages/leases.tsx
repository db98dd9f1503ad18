import { useMemo, useState } from "react";
import type { Lease } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { leasesOf } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { FilterBox } from "../parts/filter-box.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, inWords, Left } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at, useFilter } from "../router.ts";
import { endLeaseAction, freeRevokedAction } from "./actions.ts";

const shownAtFirst = 100;

/** All leases, the oldest first. */
export function Leases() {
  const { data, error } = useAnswer(leasesOf(undefined));
  const [text] = useFilter("q");
  const [limit, setLimit] = useState(shownAtFirst);
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    return (data ?? [])
      .filter((lease) => wordsOf(lease).some((word) => word.toLowerCase().includes(wanted)))
      .toSorted((a, b) => a.grantedAt.localeCompare(b.grantedAt));
  }, [data, text]);
  return (
    <>
      <h1>
        Leases <small>{data === undefined ? "" : grouped(data.length)}</small>
      </h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      <div className="tools">
        <FilterBox label="Filter by holder, pool or resource" />
      </div>
      {data === undefined ? (
        <Loading />
      ) : shown.length === 0 ? (
        <EmptyNote title={data.length === 0 ? "There are no leases" : "No lease matches"}>
          Try <code>berth run --pool POOL -- sleep 60</code>, and watch it here.
        </EmptyNote>
      ) : (
        <LeaseTable leases={shown.slice(0, limit)} />
      )}
      <MoreButton shown={limit} of={shown.length} onMore={setLimit} />
    </>
  );
}

function wordsOf({ holder, claims }: Lease): readonly string[] {
  return [holder, ...claims.flatMap(({ pool, resource }) => [pool, resource])];
}

export function LeaseTable({ leases }: { leases: readonly Lease[] }) {
  return (
    <table className="leases">
      <thead>
        <tr>
          <th scope="col">Holder</th>
          <th scope="col">Holds</th>
          <th scope="col" className="number">
            For
          </th>
          <th scope="col" className="number optional">
            Waited
          </th>
          <th scope="col" className="number">
            Left
          </th>
          <th scope="col" className="action-cell">
            <span className="hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {leases.map((lease) => (
          <tr key={lease.id} data-row>
            <th scope="row">
              <Link href={at("leases", lease.id)}>{lease.holder}</Link>
            </th>
            <td>
              {lease.claims.map(({ id, resource, amount }) => (
                <span key={id}>
                  <Link href={at("resources", resource)}>{resource}</Link>{" "}
                  {amount === undefined ? null : (
                    <small className="faint">{amountText(amount)} </small>
                  )}
                </span>
              ))}
            </td>
            <td className="number">
              <Age since={lease.grantedAt} />
            </td>
            <td className="number optional">{inWords(lease.waitedSeconds)}</td>
            <td className="number">
              <Left until={lease.endsAt} />
            </td>
            <td className="action-cell">
              <ActionButton
                action={lease.revokedAt === null ? endLeaseAction(lease) : freeRevokedAction(lease)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
