import type { Resource } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { oneResource } from "../data/questions.ts";
import { ActionButton, NoActionsNote } from "../parts/action-button.tsx";
import { CapacityBars } from "../parts/capacity-bars.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { Loading, ProblemNote } from "../parts/notes.tsx";
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
      <h1>
        {name} {resource === undefined ? null : <StateChip state={resource.state} />}
      </h1>
      <ProblemNote error={error} />
      {resource === undefined ? error === undefined && <Loading /> : <View resource={resource} />}
    </>
  );
}

function View({ resource }: { resource: Resource }) {
  const { name, note, lease, changedAt, restsUntil, labels, drained, retiring } = resource;
  return (
    <>
      <NoActionsNote />
      <div className="buttons start">
        {actionsFor(resource).map((action) => (
          <ActionButton key={action.verb} action={action} />
        ))}
      </div>
      <Facts
        label="About it"
        facts={[
          lease && [
            "Held by",
            <Link key="l" href={at("leases", lease.id)}>
              {lease.holder}
            </Link>,
          ],
          lease && ["Held for", <Age key="a" since={lease.since} />],
          lease && ["Fence", lease.fence],
          ["In this state for", <Age key="c" since={changedAt} />],
          restsUntil !== null && ["Cooldown ends in", <Left key="r" until={restsUntil} />],
          drained && ["Drained", lease === null ? "not lent" : "after its release"],
          retiring && ["Retiring", "removed from the configuration after its release"],
          ...Object.entries(labels).map(([key, value]): [string, string] => [key, value]),
        ]}
      />
      {resource.usage === undefined ? null : (
        <CapacityBars usage={resource.usage} shares={resource.shares} />
      )}
      {resource.shares === undefined || resource.shares.length === 0 ? null : (
        <Shares shares={resource.shares} />
      )}
      {note === "" ? null : (
        <section aria-labelledby="note-title">
          <h2 id="note-title">
            {resource.state === "quarantined" ? "Output of the cleaner" : "Note"}
          </h2>
          <pre>{note}</pre>
        </section>
      )}
      <ResourceDays resource={resource} />
      <EventsAbout key={name} subject={{ resource: name }} />
    </>
  );
}

function Shares({ shares }: { shares: NonNullable<Resource["shares"]> }) {
  return (
    <ul className="plain-list" aria-label="Use by holder">
      {shares.map(({ id, holder, amount }, index) => (
        // One lease may have several claims on one resource.
        // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and no state.
        <li key={`${id} ${index}`}>
          <Link href={at("leases", id)}>{holder}</Link>{" "}
          <span className="faint">
            {Object.entries(amount)
              .map(([dimension, value]) => `${dimension} ${value}`)
              .join(", ")}
          </span>
        </li>
      ))}
    </ul>
  );
}
