import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { upkeepOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { cleanedWords, cleaningStatus, cleaningTimeWords, hasCleaning } from "./cleaning-facts.ts";
import { GateCard } from "./gate-card.tsx";

/** How used resources come back, for pools whose resources are cleaned before they are lent again. */
export function CleaningSection({ pool }: { pool: Pool }) {
  return hasCleaning(pool) ? <Section pool={pool} /> : null;
}

function Section({ pool }: { pool: Pool }) {
  const { name, states } = pool;
  const { dirty = 0, cleaning = 0, quarantined = 0 } = states;
  const upkeep = useAnswer(upkeepOf([name])).data?.get(name);
  const times = upkeep && cleaningTimeWords(upkeep);
  const query = new URLSearchParams({ purpose: "clean", pool: name });
  return (
    <GateCard
      title="Cleaning"
      status={cleaningStatus(pool)}
      buttons={<Link href={`/history?${query}#past-title`}>Past cleanings</Link>}
    >
      <Facts
        label="Cleaning"
        facts={[
          ["To clean", grouped(dirty)],
          ["Being cleaned", grouped(cleaning)],
          upkeep !== undefined && ["Last 24 hours", cleanedWords(upkeep)],
          times !== undefined && ["A cleaning takes", times],
          quarantined > 0 && [
            "Quarantined",
            <Link key="out" href={`/out?${new URLSearchParams({ q: name })}`}>
              {grouped(quarantined)}, not lent until somebody decides
            </Link>,
          ],
        ]}
      />
    </GateCard>
  );
}
