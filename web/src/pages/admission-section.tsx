import type { Pool } from "../../../src/api/schemas.ts";
import { useInTime } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { queueOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { Age, Left } from "../parts/times.tsx";
import { at } from "../router.ts";
import { creditsAt, foundText, waitingForAdmission } from "./admission-facts.ts";

type Admission = NonNullable<Pool["admission"]>;

/** Whether free resources may be lent, for pools with `admission`. */
export function AdmissionSection({ pool: { name, admission } }: { pool: Pool }) {
  if (admission === null) return null;
  const { by, why, found, lookedAt } = admission;
  return (
    <section aria-labelledby="admission-title">
      <h2 id="admission-title">Admission</h2>
      <Facts
        label="Admission"
        facts={[
          ["Checked by", by],
          ["Admitted now", <Credits key="credits" admission={admission} />],
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
          why !== null && ["Reason", why],
          ["Waiting for admission", <WhoWaits key="who" pool={name} />],
        ]}
      />
    </section>
  );
}

/** Credits expire without an event. */
function Credits({ admission }: { admission: Admission }) {
  const credits = useInTime((nowMs) => creditsAt(admission, nowMs));
  if (credits === 0) return "none";
  return (
    <>
      {grouped(credits)} more, within <Left until={admission.until} />
    </>
  );
}

const namedMax = 3;

function WhoWaits({ pool }: { pool: string }) {
  const { data } = useAnswer(queueOf(pool));
  const who = waitingForAdmission(data ?? [], pool);
  if (who.length === 0) return "nobody";
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
