import type { Pool } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { admissionAnswers, queueOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left, Moment } from "../parts/times.tsx";
import { at } from "../router.ts";
import {
  admissionLead,
  admissionStatus,
  answersOf,
  answerWords,
  creditsAt,
  foundText,
  nextCheckWords,
  waitingForAdmission,
  waitingForFree,
} from "./admission-facts.ts";
import { GateCard } from "./gate-card.tsx";

type Admission = NonNullable<Pool["admission"]>;

/** Whether free resources may be lent, for pools with `admission`. */
export function AdmissionSection({ pool }: { pool: Pool }) {
  const { admission } = pool;
  return admission === null ? null : <Section pool={pool} admission={admission} />;
}

function Section({ pool: { name, free }, admission }: { pool: Pool; admission: Admission }) {
  const { by, why, found, lookedAt } = admission;
  // Credits expire without an event.
  const credits = useInTime((nowMs) => creditsAt(admission, nowMs));
  const { data } = useAnswer(queueOf(name));
  const waiting = waitingForAdmission(data ?? [], name);
  const nextCheck = useInTime((nowMs) => {
    return nextCheckWords(admission, { credits, waiting: waiting.length }, nowMs);
  });
  const status = admissionStatus({ credits, found, waiting: waiting.length });
  return (
    <GateCard title="Admission" status={status}>
      {data === undefined ? null : (
        <p className="gate-lead">
          {admissionLead({
            ...{ credits, found, free, waiting: waiting.length },
            beforeCheck: waitingForFree(data, name),
          })}
        </p>
      )}
      {why === null ? null : (
        <figure className={found === "unknown" ? "said bad" : "said"}>
          <figcaption>What the check said</figcaption>
          <pre>{why.replaceAll("; ", ";\n")}</pre>
        </figure>
      )}
      <Facts
        label="Admission"
        facts={[
          credits > 0 && [
            "Admitted now",
            <>
              {grouped(credits)} more, within <Left until={admission.until} />
            </>,
          ],
          [
            "Last check",
            lookedAt === null ? (
              "none since the server started"
            ) : (
              <>
                <Age since={lookedAt} /> ago, {foundText(found)}
              </>
            ),
          ],
          nextCheck !== "" && ["Next check", nextCheck],
          waiting.length > 0 && ["Waiting for admission", <WhoWaits key="who" who={waiting} />],
          ["Decided by", by],
        ]}
      />
      <Answers pool={name} />
    </GateCard>
  );
}

const answersShown = 4;

/** Whether earlier waits were for the check or for a resource. */
function Answers({ pool }: { pool: string }) {
  const { data } = useAnswer(admissionAnswers(pool));
  const answers = data && answersOf(data).slice(0, answersShown);
  if (answers?.length === 0) return null;
  return (
    <table
      className="rates stack"
      aria-label="Answers of the check"
      aria-busy={answers === undefined}
    >
      <thead>
        <tr>
          <th scope="col">Since</th>
          <th scope="col">Answer</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {/* The journal is searched for them: their place is kept, so that nothing below moves. */}
        {answers === undefined ? <EmptyRows count={answersShown} columns={3} /> : null}
        {answers?.map(({ at: since, found, why, times }) => (
          <tr key={`${since} ${why}`}>
            <td>
              <Moment at={since} />
            </td>
            <td className={found ? undefined : "late"}>
              {answerWords({ found, why })}
              {times === 1 ? null : <small> {grouped(times)} times</small>}
            </td>
            <td className="words">{why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function EmptyRows({ count, columns }: { count: number; columns: number }) {
  return Array.from({ length: count }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
    <tr key={row}>
      <td colSpan={columns}>&nbsp;</td>
    </tr>
  ));
}

const namedMax = 3;

function WhoWaits({ who }: { who: ReturnType<typeof waitingForAdmission> }) {
  const more = who.length - namedMax;
  return (
    <>
      {who.slice(0, namedMax).map(({ id, holder }, index) => (
        <span key={id}>
          {index === 0 ? "" : ", "}
          <Link href={at("requests", id)}>{holder}</Link>
        </span>
      ))}
      {more > 0 ? ` and ${grouped(more)} more` : ""}
    </>
  );
}
