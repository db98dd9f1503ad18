import type { Problem } from "../../../src/api/problem.ts";
import { briefDuration } from "../../../src/core/model/time.ts";
import { holderOf } from "../data/holder-names.ts";
import { useAnswer } from "../data/query.ts";
import { eventsAbout, pastOf } from "../data/questions.ts";
import { Facts } from "../parts/facts.tsx";
import { Figures } from "../parts/figures.tsx";
import { EmptyNote } from "../parts/notes.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, inWords, Moment } from "../parts/times.tsx";
import { WhatNext } from "../parts/what-next.tsx";
import { endingWords, endsApart, grantIn } from "./ended-facts.ts";
import { PastLifeBar } from "./life-bar.tsx";
import { isBadEnd, ReleasedTable } from "./past-table.tsx";

/** How it ended, as far as the server still knows. */
export function EndedView({
  id,
  holder,
  problem,
}: {
  id: string;
  holder: string | undefined;
  problem: Problem;
}) {
  const { how, endedAt } = problem.facts;
  const isUnknown = problem.status === 404;
  const entries = useAnswer(pastOf(id, { isUnknown })).data?.items ?? [];
  const grant = grantIn(useAnswer(eventsAbout({ id })).data?.items ?? []);
  const [first] = entries;
  const last = entries.toSorted((a, b) => b.endedAt.localeCompare(a.endedAt))[0];
  const known = typeof how === "string" && typeof endedAt === "string";
  return (
    <>
      <PageHead
        title={holder ?? first?.holder ?? holderOf(id) ?? <code>{id}</code>}
        chip={known ? <StateChip state="ended" /> : null}
      />
      {known ? (
        <>
          <p className={isBadEnd(how) ? "callout" : "callout calm-callout"}>
            {endingWords(how, endedAt, grant)} at <Moment at={endedAt} />.
            {last !== undefined && endsApart(last.endedAt, endedAt) ? (
              <>
                {" "}
                What it held went back earlier, the last at <Moment at={last.endedAt} />.
              </>
            ) : null}
          </p>
          <Figures
            label="The lease in numbers"
            figures={[
              { label: "Ended", value: <Age since={endedAt} />, aside: "ago" },
              { label: "Waited", value: inWords(first?.waitSeconds) },
              { label: "Held for", value: inWords(first?.holdSeconds) },
            ]}
          />
          {first === undefined ? null : <PastLifeBar entry={first} leaseEndedAt={endedAt} />}
        </>
      ) : (
        <EmptyNote title={isUnknown ? `No lease or request has the id ${id}` : problem.message}>
          <WhatNext problem={problem} />
        </EmptyNote>
      )}
      {entries.length === 0 ? null : (
        <section aria-labelledby="past-title">
          <h2 id="past-title">
            {entries.every(({ grantedAt }) => grantedAt === null) ? "Wanted" : "Held"}{" "}
            <small>{entries.length}</small>
          </h2>
          <ReleasedTable entries={entries} timed={entries.length > 1} />
        </section>
      )}
      {first === undefined ? null : (
        <section aria-labelledby="about-title">
          <h2 id="about-title">About it</h2>
          <Facts
            label="About it"
            facts={[
              ["Id", <code key="id">{id}</code>],
              first.space !== "" && ["Space", first.space],
              ["Priority", first.priority],
              grant !== undefined && [
                "Heartbeat timeout",
                grant.timeoutMs === null ? "none" : briefDuration(grant.timeoutMs),
              ],
            ]}
          />
        </section>
      )}
    </>
  );
}
