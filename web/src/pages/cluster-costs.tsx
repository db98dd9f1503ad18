import { useAnswer } from "../data/query.ts";
import { costs } from "../data/questions.ts";
import { costsBySpace, type SpaceCosts, sumOf } from "./cost-facts.ts";

/** What clusters cost in the last week, by space. Nothing while nothing was charged. */
export function ClusterCosts() {
  const { data } = useAnswer(costs);
  if (data === undefined || data.items.length === 0) return null;
  const spaces = costsBySpace(data.items);
  const all = sumOf(spaces);
  return (
    <section aria-labelledby="costs-title">
      <h2 id="costs-title">
        Costs <small>7 days</small>
      </h2>
      <p className="calm">
        Hours times the cost per hour of the template, in the unit of your configuration. The hours
        before a cluster was lent are of the stock, and all later ones of the space that got it.
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
        {spaces.map((costs) => (
          <SpaceRows key={costs.space ?? ""} costs={costs} />
        ))}
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <td />
            <td className="optional" />
            <td className="number faint">–</td>
            <td className="number">{all.clusterHours.toFixed(2)}</td>
            <td className="number">{all.costHours.toFixed(2)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

/** One row for a space with clusters of one kind; else a row with their sum above them. */
function SpaceRows({ costs: { space, rows, ...sum } }: { costs: SpaceCosts }) {
  const name = space ?? <span className="faint">stock</span>;
  const isSummed = rows.length > 1;
  return (
    <tbody>
      {isSummed ? (
        <tr className="sum">
          <th scope="row">{name}</th>
          <td />
          <td className="optional" />
          <Numbers {...sum} />
        </tr>
      ) : null}
      {rows.map(({ pool, template, ...row }) => (
        <tr key={`${pool} ${template}`} className={isSummed ? "part" : undefined}>
          <th scope="row">{isSummed ? <span className="hidden">{name}</span> : name}</th>
          <td>{pool}</td>
          <td className="optional">{template}</td>
          <Numbers {...row} />
        </tr>
      ))}
    </tbody>
  );
}

function Numbers(row: Pick<SpaceCosts, "clusters" | "clusterHours" | "costHours">) {
  return (
    <>
      <td className="number">{row.clusters}</td>
      <td className="number">{row.clusterHours.toFixed(2)}</td>
      <td className="number">{row.costHours.toFixed(2)}</td>
    </>
  );
}
