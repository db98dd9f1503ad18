import type { Cost } from "../../../src/api/cluster-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { costs } from "../data/questions.ts";
import { inHundredths } from "./cluster-facts.ts";

/** What clusters cost in the last week, by space. Nothing while nothing was charged. */
export function ClusterCosts() {
  const { data } = useAnswer(costs);
  if (data === undefined || data.items.length === 0) return null;
  const rows = data.items
    .map((row) => ({
      ...row,
      clusterHours: inHundredths(row.clusterHours),
      costHours: inHundredths(row.costHours),
    }))
    .toSorted((a, b) => b.costHours - a.costHours);
  const sum = (of: (row: Cost) => number) => rows.reduce((total, row) => total + of(row), 0);
  return (
    <section aria-labelledby="costs-title">
      <h2 id="costs-title">
        Costs <small>7 days</small>
      </h2>
      <p className="calm">
        Hours times the cost per hour of the template, in the unit of your configuration. Counts
        every cluster of the last 7 days. The hours of a cluster that was lent are divided between
        stock and its space.
      </p>
      <table className="costs">
        <thead>
          <tr>
            <th scope="col">Space</th>
            <th scope="col">Pool</th>
            <th scope="col" className="optional">
              Template
            </th>
            <th scope="col" className="number">
              Clusters
            </th>
            <th scope="col" className="number">
              Hours
            </th>
            <th scope="col" className="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={`${row.space} ${row.pool} ${row.template}`} row={row} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td />
            <td className="optional" />
            <td className="number faint">–</td>
            <td className="number">{sum(({ clusterHours }) => clusterHours).toFixed(2)}</td>
            <td className="number">{sum(({ costHours }) => costHours).toFixed(2)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

function Row({ row }: { row: Cost }) {
  const { space, pool, template, clusters, clusterHours, costHours } = row;
  return (
    <tr>
      <th scope="row">{space ?? <span className="faint">stock</span>}</th>
      <td>{pool}</td>
      <td className="optional">{template}</td>
      <td className="number">{clusters}</td>
      <td className="number">{clusterHours.toFixed(2)}</td>
      <td className="number">{costHours.toFixed(2)}</td>
    </tr>
  );
}
