import type { HistoryEntry } from "../../../src/api/history-schemas.ts";
import { Link } from "../parts/link.tsx";
import { inWords, Moment } from "../parts/times.tsx";
import { amountText } from "../parts/wants.ts";
import { at } from "../router.ts";

interface Props {
  readonly entries: readonly HistoryEntry[];
  /** All are of one resource, which the page names. */
  readonly ofOne?: boolean;
}

interface ReleasedProps extends Pick<Props, "entries"> {
  /** The page has the times of the lease; those of its parts may differ. */
  readonly timed: boolean;
}

/** In the words of the filters above; others are words already. */
const hows: Readonly<Record<string, string>> = {
  hold: "auto-released",
  lifetime: "max lifetime",
  revoked: "ended by an operator",
  removed: "removed by an operator",
  abandoned: "gave up waiting",
};

/** Past leases, the latest first. */
export function PastTable({ entries, ofOne = false }: Props) {
  const hasAmounts = entries.some(({ amount }) => amount !== null);
  const showsWhat = !ofOne || hasAmounts;
  return (
    <table className="past stack">
      <thead>
        <tr>
          <th scope="col">Ended</th>
          <th scope="col">Holder</th>
          {showsWhat ? <th scope="col">{ofOne ? "Amount" : "Resource"}</th> : null}
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
            <td className="when">
              <Moment at={entry.endedAt} />
            </td>
            <th scope="row">
              <Link href={at("leases", entry.id)}>{entry.holder}</Link>
            </th>
            {showsWhat ? (
              <td>{ofOne ? amountText(entry.amount) : <What entry={entry} />}</td>
            ) : null}
            <td
              className={entry.waitSeconds < 1 ? "number optional faint" : "number optional"}
              data-label="Waited"
            >
              {inWords(entry.waitSeconds)}
            </td>
            <td className="number" data-label="Held">
              {inWords(entry.holdSeconds)}
            </td>
            <td className={lookOfEnd(entry.how)}>
              {ofOne && entry.purpose === "clean" ? "cleaning " : ""}
              {hows[entry.how] ?? entry.how}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What one lease held, or wanted. The page names its holder. */
export function ReleasedTable({ entries, timed }: ReleasedProps) {
  return (
    <table className="claims stack">
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Pool</th>
          {timed ? (
            <>
              <th scope="col" className="number">
                Held
              </th>
              <th scope="col">Ended</th>
            </>
          ) : null}
          <th scope="col">How</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.claim ?? entry.pool} data-row>
            <th scope="row">
              {entry.resource === null ? "never granted" : <What entry={entry} />}
            </th>
            <td>
              <Link href={at("pools", entry.pool)}>{entry.pool}</Link>
            </td>
            {timed ? (
              <>
                <td className="number" data-label="Held">
                  {inWords(entry.holdSeconds)}
                </td>
                <td>
                  <Moment at={entry.endedAt} />
                </td>
              </>
            ) : null}
            <td className={lookOfEnd(entry.how)}>{hows[entry.how] ?? entry.how}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function What({ entry: { resource, pool, amount } }: { entry: HistoryEntry }) {
  return (
    <>
      {resource === null ? (
        <Link href={at("pools", pool)}>{pool}, never granted</Link>
      ) : (
        <Link href={at("resources", resource)}>{resource}</Link>
      )}
      {amount === null ? null : <small className="faint"> {amountText(amount)}</small>}
    </>
  );
}

/** A cleaning that failed has brought a quarantine, which is red everywhere. */
function lookOfEnd(how: string): string | undefined {
  if (how === "failed") return "broken";
  return isBadEnd(how) ? "late" : undefined;
}

/** Whether a job did not end by itself. */
export function isBadEnd(how: string): boolean {
  return ["expired", "lifetime", "abandoned", "failed"].includes(how);
}
