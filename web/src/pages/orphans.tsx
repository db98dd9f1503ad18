import type { Orphan } from "../../../src/api/cluster-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { orphanClusters } from "../data/questions.ts";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds } from "../parts/times.tsx";

/** Clusters outside that nobody knows of. Nothing while there are none. */
export function Orphans() {
  const { data } = useAnswer(orphanClusters);
  if (data === undefined || data.length === 0) return null;
  return (
    <section aria-labelledby="orphans-title">
      <h2 id="orphans-title">
        Orphaned clusters <small>{grouped(data.length)}</small>
      </h2>
      <p>
        The drivers have found these, and no pool has them. Destroy them by hand, or take them over
        into a pool with the command of the row.
      </p>
      <table className="orphans stack">
        <thead>
          <tr>
            <th scope="col" title="Its name where it runs: in the cloud, or on the hub">
              Cluster
            </th>
            <th scope="col">Instance</th>
            <th scope="col">Template</th>
            <th scope="col" className="number">
              Made
            </th>
            <th scope="col" className="number">
              Known for
            </th>
            <th scope="col">To take it over</th>
          </tr>
        </thead>
        <tbody>
          {data.map((orphan) => (
            <Row key={orphan.instance} orphan={orphan} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ orphan: { name, instance, template, createdAt, seenSeconds } }: { orphan: Orphan }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td data-label="Instance">{instance}</td>
      <td data-label="Template">{template}</td>
      <td className="number" data-label="Made">
        <Made at={createdAt} />
      </td>
      <td className="number" data-label="Known for">
        {inWholeSeconds(seenSeconds)}
      </td>
      <td className="words" data-label="To take it over">
        <code>
          berth clusters adopt {name} --pool POOL --instance {instance}
        </code>
      </td>
    </tr>
  );
}

/** Drivers write times as they like. */
function Made({ at }: { at: string }) {
  if (Number.isNaN(Date.parse(at))) return at === "" ? "–" : at;
  return (
    <>
      <Age since={at} /> ago
    </>
  );
}
