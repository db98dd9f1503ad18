import type { Problem } from "../../../src/api/problem.ts";
import { useAnswer } from "../data/query.ts";
import { past } from "../data/questions.ts";
import { EmptyNote } from "../parts/notes.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, Moment } from "../parts/times.tsx";
import { WhatNext } from "../parts/what-next.tsx";
import { PastTable } from "./past-table.tsx";

const endings: Readonly<Record<string, string>> = {
  released: "It was given back",
  expired: "Its holder fell silent, and it was taken back",
  lifetime: "Its time was over, and it was taken back",
  revoked: "An operator ended it",
  uncollected: "Nobody came for it",
  reset: "It was taken back for its silence",
  hold: "It was given back when its hold was over",
  cancelled: "It left the queue",
  disconnected: "Whoever asked hung up",
  abandoned: "Whoever asked was not heard of again",
  unsatisfiable: "A new configuration has no room for it",
};

/** How it ended, as far as the server still knows. */
export function OverView({
  id,
  holder,
  problem,
}: {
  id: string;
  holder: string | undefined;
  problem: Problem;
}) {
  const { how, endedAt } = problem.facts;
  const entries = useAnswer(past({ id })).data?.items ?? [];
  const known = typeof how === "string" && typeof endedAt === "string";
  return (
    <>
      <h1>
        {holder ?? entries[0]?.holder ?? <code>{id}</code>}{" "}
        <StateChip state={known ? "ended" : "unknown"} />
      </h1>
      {known ? (
        <p className="lead">
          {endings[how] ?? `It ended (${how})`} at <Moment at={endedAt} />, <Age since={endedAt} />{" "}
          ago.
        </p>
      ) : (
        <EmptyNote title={problem.message}>
          <WhatNext problem={problem} />
        </EmptyNote>
      )}
      {entries.length === 0 ? null : <PastTable entries={entries} />}
    </>
  );
}
