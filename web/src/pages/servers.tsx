import type { ReplicaState } from "../../../src/api/replica-schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allReplicas } from "../data/questions.ts";
import { grouped } from "../parts/numbers.ts";
import { Age, inWholeSeconds } from "../parts/times.tsx";

/** They report every second. */
const silentSecondsMax = 5;

/** The servers on one journal: who leads, and how far each follows. Nothing if there is only one. */
export function Servers() {
  const { data } = useAnswer(allReplicas);
  if (data === undefined || data.self === null) return null;
  return (
    <section aria-labelledby="servers-title">
      <h2 id="servers-title">
        Servers <small>{grouped(data.replicas.length)}</small>
      </h2>
      {data.leader === null ? (
        <p role="status">No server leads at present. Nothing is lent until one does.</p>
      ) : null}
      <table className="servers">
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">State</th>
            <th scope="col">Version</th>
            <th scope="col" className="number">
              Last event
            </th>
          </tr>
        </thead>
        <tbody>
          {data.replicas.map((replica) => (
            <tr key={replica.id}>
              <th scope="row">
                {replica.id} {replica.id === data.self ? <small>answers this page</small> : null}
              </th>
              <td>
                <State replica={replica} leadsSince={data.leadsSince} />
              </td>
              <td>{replica.version}</td>
              <td className="number">{grouped(replica.lastEvent)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function State({ replica, leadsSince }: { replica: ReplicaState; leadsSince: string | null }) {
  const { leads, silentSeconds, behindEvents } = replica;
  if (leads && leadsSince !== null) {
    return (
      <>
        <strong>leads</strong> for <Age since={leadsSince} />
      </>
    );
  }
  if (silentSeconds > silentSecondsMax) {
    return <span className="late">no report for {inWholeSeconds(silentSeconds)}</span>;
  }
  if (behindEvents === 0) return <>follows</>;
  return <>follows, {grouped(behindEvents)} events behind</>;
}
