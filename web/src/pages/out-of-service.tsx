import { useState } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, inStates } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { Link } from "../parts/link.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { EmptyNote, Loading, ProblemNote } from "../parts/notes.tsx";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";
import { actionsFor } from "./actions.ts";
import { coolingAside } from "./pool-facts.ts";

const shownAtFirst = 50;

const states = [
  ["quarantined", "Quarantined", "Cleaning failed too often, or somebody quarantined it."],
  ["drained", "Drained", "Not lent until somebody undrains it."],
  ["dirty", "To be cleaned", "Waiting for a cleaner."],
  ["cleaning", "Being cleaned", "A cleaner holds it."],
] as const;
const names = states.map(([state]) => state);

/** Resources that cannot be lent, with the cleaner's output. */
export function OutOfService() {
  const { data, error } = useAnswer(inStates(names));
  return (
    <>
      <h1>Out of service</h1>
      <ProblemNote error={error} />
      <NoActionsNote />
      {data === undefined ? <Loading /> : null}
      {data?.every((resources) => resources.length === 0) ? (
        <EmptyNote title="Everything is in service">
          Drained, dirty and quarantined resources appear here, with the output of their cleaner.
        </EmptyNote>
      ) : null}
      <Cooling />
      {states.map(([state, title, about], index) => (
        <InState key={state} {...{ state, title, about }} resources={data?.[index] ?? []} />
      ))}
    </>
  );
}

/** Cooling resources need no action, but the overview counts them. */
function Cooling() {
  const { data } = useAnswer(allPools);
  const words = coolingAside(data?.pools ?? []);
  return words === "" ? null : (
    <p className="calm">{words}: they become free by themselves after their cooldown.</p>
  );
}

interface InStateProps {
  readonly state: string;
  readonly title: string;
  readonly about: string;
  readonly resources: readonly Resource[];
}

function InState({ state, title, about, resources }: InStateProps) {
  const [limit, setLimit] = useState(shownAtFirst);
  if (resources.length === 0) return null;
  return (
    <section aria-labelledby={`out-${state}`}>
      <h2 id={`out-${state}`}>
        {title} <small>{resources.length}</small>
      </h2>
      <p className="calm">{about}</p>
      {resources.slice(0, limit).map((resource) => (
        <OutRow key={resource.name} resource={resource} />
      ))}
      <MoreButton shown={limit} of={resources.length} onMore={setLimit} />
    </section>
  );
}

function OutRow({ resource }: { resource: Resource }) {
  const { name, pool, changedAt, note } = resource;
  const [first = "", ...rest] = note.trim().split("\n");
  return (
    <article className="out-row" data-row>
      <p>
        <Link href={at("resources", name)}>{name}</Link>
        <span className="faint">
          in <Link href={at("pools", pool)}>{pool}</Link> for <Age since={changedAt} />
        </span>
        <span className="actions">
          {actionsFor(resource).map((action) => (
            <ActionButton key={action.verb} action={action} />
          ))}
        </span>
      </p>
      {rest.length === 0 ? (
        <p className="words">{first}</p>
      ) : (
        <details>
          <summary>{first}</summary>
          <pre>{note}</pre>
        </details>
      )}
    </article>
  );
}
