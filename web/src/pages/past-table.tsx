import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import { Link } from "../parts/link.tsx";
import { inWords, Moment } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";

/** Past leases, the latest first. */
export function PastTable({ entries }: { entries: readonly HistoryEntry[] }) {
  return (
    <table className="past stack">
      <thead>
        <tr>
          <th scope="col">Ended</th>
          <th scope="col">Holder</th>
          <th scope="col">Resource</th>
          <th scope="col" className="number optional">
            Waited
          </th>
          <th scope="col" className="number">
            Held
          </th>
          <th scope="col">How</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={`${entry.id} ${entry.claim ?? entry.pool}`} data-row>
            <td>
              <Moment at={entry.endedAt} />
            </td>
            <th scope="row">
              <Link href={at("leases", entry.id)}>{entry.holder}</Link>
            </th>
            <td>
              {entry.resource === null ? (
                <Link href={at("pools", entry.pool)}>{entry.pool}, never granted</Link>
              ) : (
                <Link href={at("resources", entry.resource)}>{entry.resource}</Link>
              )}
              {entry.amount === null ? null : (
                <small className="faint"> {amountText(entry.amount)}</small>
              )}
            </td>
            <td className="number optional" data-label="Waited">
              {inWords(entry.waitSeconds)}
            </td>
            <td className="number" data-label="Held">
              {inWords(entry.holdSeconds)}
            </td>
            <td className={isBad(entry.how) ? "late" : undefined}>{entry.how}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isBad(how: string): boolean {
  return ["expired", "lifetime", "abandoned", "failed"].includes(how);
}
