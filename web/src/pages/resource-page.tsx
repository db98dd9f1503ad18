import type { Resource } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { oneResource } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { CapacityBars } from "../parts/capacity-bars.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Facts } from "../parts/facts.tsx";
import { type Figure, Figures } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { StateChip } from "../parts/state-chip.tsx";
import { Age, Left } from "../parts/times.tsx";
import { at } from "../router.ts";
import { actionsFor } from "./actions.ts";
import { EventsAbout } from "./event-list.tsx";
import { ResourceDays } from "./resource-days.tsx";

export function ResourcePage({ name }: { name: string }) {
  const { data: resource, error } = useAnswer(oneResource(name));
  const pool = resource?.pool;
  return (
    <>
      <Crumbs trail={[["Pools", "/"], ...(pool ? [[pool, at("pools", pool)] as const] : [])]} />
      <PageHead
        title={name}
        chip={resource === undefined ? null : <StateChip state={resource.state} />}
      >
        {resource === undefined
          ? null
          : actionsFor(resource).map((action) => (
              <ActionButton key={action.verb} action={action} />
            ))}
      </PageHead>
      <ProblemNote error={error} />
      {resource === undefined ? error === undefined && <Loading /> : <View resource={resource} />}
    </>
  );
}

function View({ resource }: { resource: Resource }) {
  const { name, lease, labels, drained, retiring, shares = [] } = resource;
  return (
    <>
      <NoActionsNote />
      {drained && lease !== null ? (
        <p className="callout">It is drained: it is not lent again after its release.</p>
      ) : null}
      {retiring ? (
        <p className="callout">It is removed from the configuration, and leaves on its release.</p>
      ) : null}
      <Note resource={resource} />
      <Figures label={`${name} in numbers`} figures={figuresOf(resource)} />
      {resource.usage === undefined ? null : (
        <CapacityBars usage={resource.usage} shares={resource.shares} />
      )}
      {shares.length === 0 ? null : <Shares shares={shares} />}
      <ResourceDays resource={resource} />
      {Object.keys(labels).length === 0 ? null : (
        <section aria-labelledby="labels-title">
          <h2 id="labels-title">Labels</h2>
          <Facts label="Labels" facts={Object.entries(labels)} />
        </section>
      )}
      <EventsAbout key={name} subject={{ resource: name }} />
    </>
  );
}

function figuresOf({ state, lease, shares, changedAt, restsUntil }: Resource): Figure[] {
  const inState = { label: `${capital(state)} for`, value: <Age since={changedAt} /> };
  const rests =
    restsUntil === null ? [] : [{ label: "Free in", value: <Left until={restsUntil} /> }];
  if (shares !== undefined) return [inState, { label: "Holders", value: shares.length }];
  if (lease === null) return [inState, ...rests, { label: "Held by", value: "–", aside: "nobody" }];
  return [
    {
      label: state === "cleaning" ? "Cleaned by" : "Held by",
      value: <Link href={at("leases", lease.id)}>{lease.holder}</Link>,
    },
    { label: "For", value: <Age since={lease.since} /> },
    { label: "Fence", value: String(lease.fence) },
  ];
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/** What its cleaner or an operator has written about it. */
function Note({ resource: { note, state } }: { resource: Resource }) {
  if (note === "") return null;
  const isBad = state === "quarantined";
  return (
    <section className={isBad ? "callout" : "callout calm-callout"} aria-labelledby="note-title">
      <h2 id="note-title">{isBad ? "Output of the cleaner" : "Note"}</h2>
      <pre>{note}</pre>
    </section>
  );
}

function Shares({ shares }: { shares: NonNullable<Resource["shares"]> }) {
  return (
    <ol className="rows gate" aria-label="Use by holder">
      {shares.map(({ id, holder, amount }, index) => (
        // One lease may have several claims on one resource.
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and no state.
        <li key={`${id} ${index}`} data-row>
          <Link href={at("leases", id)}>{holder}</Link>{" "}
          <span className="faint">
            {Object.entries(amount)
              .map(([dimension, value]) => `${dimension} ${value}`)
              .join(", ")}
          </span>
        </li>
      ))}
    </ol>
  );
}
