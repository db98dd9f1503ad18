import { useState } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { inStates } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { clusterStates } from "../parts/state-look.ts";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";

const about: Readonly<Record<(typeof clusterStates)[number], string>> = {
  creating: "It is being created.",
  hibernated: "It exists and is stopped; it starts again when it is needed.",
  resuming: "It starts again.",
  destroying: "It is being deleted.",
};
const shownAtFirst = 50;

/** Clusters that are being created, stopped, started or deleted. */
export function Clusters() {
  const { data, error } = useAnswer(inStates(clusterStates));
  return (
    <>
      <h1>Clusters</h1>
      <ProblemNote error={error} />
      {data === undefined ? <Loading /> : null}
      {data?.every((resources) => resources.length === 0) ? <NoClusters /> : null}
      {clusterStates.map((state, index) => (
        <InState key={state} state={state} resources={data?.[index] ?? []} />
      ))}
    </>
  );
}

function NoClusters() {
  return (
    <>
      <EmptyNote title="No cluster is being created, started or deleted">
        Berth does not create clusters yet. When it does, this page will show each one with its
        state, the time in that state and the last message.
      </EmptyNote>
      <h2>What can be done today</h2>
      <ul className="plain-list">
        <li>
          Lend clusters that exist: name them as <code>members</code> of a pool. A job gets one like
          any other resource, and a <code>janitor</code> can clean it afterwards.
        </li>
        <li>
          Create them elsewhere: your tool can set a resource to <code>creating</code>,{" "}
          <code>hibernated</code>, <code>resuming</code> or <code>destroying</code> with{" "}
          <code>PATCH /v1/resources/NAME</code>, and to <code>free</code> once it is ready. Until
          then it is not lent, and is listed here.
        </li>
        <li>
          Limit how many are installed at once: a pool with a <code>pace</code> lends permission to
          start, not a cluster.
        </li>
      </ul>
    </>
  );
}

interface InStateProps {
  readonly state: (typeof clusterStates)[number];
  readonly resources: readonly Resource[];
}

function InState({ state, resources }: InStateProps) {
  const [limit, setLimit] = useState(shownAtFirst);
  if (resources.length === 0) return null;
  return (
    <section aria-labelledby={`clusters-${state}`}>
      <h2 id={`clusters-${state}`}>
        {state} <small>{resources.length}</small>
      </h2>
      <p className="calm">{about[state]}</p>
      {resources.slice(0, limit).map(({ name, pool, changedAt, note }) => (
        <article key={name} className="out-row" data-row>
          <p>
            <Link href={at("resources", name)}>{name}</Link>
            <span className="faint">
              in <Link href={at("pools", pool)}>{pool}</Link> for <Age since={changedAt} />
            </span>
          </p>
          <p className="words">{note.trim().split("\n").at(-1)}</p>
        </article>
      ))}
      <MoreButton shown={limit} of={resources.length} onMore={setLimit} />
    </section>
  );
}
