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
  creating: "It is being made.",
  hibernated: "It is there and sleeps; it is woken for whoever asks.",
  resuming: "It wakes up.",
  destroying: "It is being taken down.",
};
const shownAtFirst = 50;

/** Whatever is on its way to being a cluster that can be lent, or away from it. */
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
      <EmptyNote title="No cluster is being made, woken or taken down">
        Berth does not make clusters yet. When it does, each stands here with its state, how long it
        has been in it and what its maker said, from the first step until it is gone.
      </EmptyNote>
      <h2>What can be done today</h2>
      <ul className="plain-list">
        <li>
          Lend clusters that exist: name them as <code>members</code> of a pool. A job gets one as
          it gets anything else, and a <code>janitor</code> can clean it afterwards.
        </li>
        <li>
          Make them elsewhere: whoever does so can set a resource to <code>creating</code>,{" "}
          <code>hibernated</code>, <code>resuming</code> or <code>destroying</code> with{" "}
          <code>PATCH /v1/resources/NAME</code>, and to <code>free</code> once it is ready. Until
          then it is not lent, and stands here.
        </li>
        <li>
          Keep too many from being installed at once: a pool with a <code>pace</code> lends a place
          to start, not a cluster.
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
