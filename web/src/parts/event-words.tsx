/** An event as a sentence with links. An unknown type of event is shown by its name. */
import type { ReactNode } from "react";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { factsOf, listOf, text } from "../../../src/core/explain/event-facts.ts";
import { rankWords } from "../../../src/core/explain/rank-words.ts";
import { roughDuration } from "../../../src/core/model/time.ts";
import { askerOf, holderOf, isCleaner } from "../data/holder-names.ts";
import { useAnswer } from "../data/query.ts";
import { somePools } from "../data/questions.ts";
import { at } from "../router.ts";
import { stateWords } from "./event-facts.ts";
import { causeWords, isCleaning, isWork, verbOf, waitText } from "./event-verbs.ts";
import { HolderLink } from "./holder-link.tsx";
import { Link } from "./link.tsx";
import { amountText, conditionsText } from "./wants.ts";

export function EventWords({ event }: { event: FeedEvent }) {
  return (
    <span className="words">
      {sentenceOf(event)}
      {because(event)}
    </span>
  );
}

function sentenceOf(event: FeedEvent): ReactNode {
  const verb = verbOf(event);
  if (verb !== undefined) {
    return (
      <>
        {subjectOf(event)}
        {verb}
      </>
    );
  }
  if (event.type === "rate-changed") return rateWords(event);
  return (
    <>
      {whoOf(event)} {requestWords(event)}
    </>
  );
}

/** What a request or a lease does, after its holder. */
function requestWords(event: FeedEvent): ReactNode {
  switch (event.type) {
    case "request-queued":
      return `queues for ${wantsOf(event)}`;
    case "lease-granted":
      return (
        <>
          {isCleaning(event) ? "begins to clean" : isWork(event) ? "begins its work on" : "gets"}{" "}
          {resourcesOf(event["claims"])}
          {waitText(event["waitedFor"])}
        </>
      );
    case "request-left":
      // Only an operator gives a reason.
      if (event["reason"] !== undefined) return "was removed from the queue";
      return leavings[text(event["why"])] ?? `leaves the queue: ${text(event["why"])}`;
    case "priority-changed":
      return <Rank event={event} />;
    case "lease-ended":
      return leaseEnd(event);
    case "notice-given":
      return "must release its lease soon";
    case "lease-revoked":
      return "has its lease ended, and may go on until it learns so";
    case "lease-delivered":
      return event["delivered"] === true ? "received its lease" : "did not receive its lease yet";
    case "claim-ended":
      return (
        <>
          {event["why"] === "hold" ? "keeps running after the auto-release of" : "releases"}{" "}
          {backOf([event["back"]])}
        </>
      );
    case "claim-replaced":
      return "gets another cluster for one that is lost";
    case "room-kept":
      return roomWords(event);
    default:
      return event.type.replaceAll("-", " ");
  }
}

const leavings: Readonly<Record<string, string>> = {
  cancelled: "leaves the queue: cancelled",
  disconnected: "leaves the queue: its client hung up",
  abandoned: "leaves the queue: abandoned, its client no longer asks",
  unsatisfiable: "leaves the queue: the new configuration can never satisfy it",
  undecidable: "leaves the queue: the decision on it failed",
};

const endings: Readonly<Record<string, string>> = {
  released: "releases",
  expired: "sent no heartbeat in time, and lost",
  lifetime: "reached its max lifetime, and lost",
  revoked: "was ended by an operator, and lost",
  uncollected: "never fetched",
  reset: "was reset, and lost",
};

function leaseEnd(event: FeedEvent): ReactNode {
  const why = text(event["why"]);
  const back = listOf(event["back"]);
  if (back.length === 0) return `ends its lease: ${why}`;
  const verb = endings[why] ?? `ends (${why})`;
  const isClean = back.every(({ state }) => state === "free");
  const cleaned = isClean ? "cleaned" : "could not clean";
  return (
    <>
      {why === "released" && isCleaner(text(event["id"])) ? cleaned : verb} {backOf(back)}
    </>
  );
}

/** With the patience of the pool, if its space got nothing of that for so long. */
function Rank({ event }: { event: FeedEvent }) {
  const { pool, starved } = event;
  const of = starved === true && typeof pool === "string" ? [pool] : [];
  return rankWords(event, useAnswer(somePools(of)).data?.[0]?.policy.patience);
}

function roomWords(event: FeedEvent): string {
  const rooms = listOf(event["rooms"]).map(({ resource }) => text(resource));
  const queuedAt = askerOf(text(event["id"]))?.queuedAt;
  const waited =
    queuedAt === undefined ? "long" : roughDuration(Date.parse(event.at) - Date.parse(queuedAt));
  if (rooms.length === 0) return `has waited ${waited}, but no host can be reserved for it yet`;
  return `has waited ${waited}: capacity on ${rooms.join(", ")} is reserved for it`;
}

function rateWords(event: FeedEvent): ReactNode {
  const { pool, rate, cause, advised } = event;
  const { how, ...reason } = factsOf(cause);
  const change = rateChanges[text(how)] ?? "set";
  const to = `${Number(Number(rate).toPrecision(3))} per minute`;
  return (
    <>
      The {advised === true ? "advised " : ""}rate of{" "}
      <Link href={at("pools", text(pool))}>{text(pool)}</Link>{" "}
      {how === "unpinned"
        ? "is no longer pinned"
        : `was ${change} to ${to}${how === "pinned" ? "" : `: ${causeWords(text(how))}`}`}
      {because({ ...event, reason })}
    </>
  );
}

const rateChanges: Readonly<Record<string, string>> = {
  throttled: "lowered",
  clean: "raised",
  pinned: "pinned",
};

/** The resource, cluster or pool that the event is about; nothing if it is about none. */
function subjectOf({ type, resource, pool }: FeedEvent): ReactNode {
  const name = typeof resource === "string" ? resource : pool;
  if (typeof name !== "string") return null;
  const view = type.startsWith("cluster-")
    ? "clusters"
    : typeof resource === "string"
      ? "resources"
      : "pools";
  return (
    <>
      <Link href={at(view, name)}>{name}</Link>{" "}
    </>
  );
}

function whoOf(event: FeedEvent): ReactNode {
  const id = text(event["id"]);
  if (id === "") return null;
  const holder = typeof event["holder"] === "string" ? event["holder"] : holderOf(id);
  if (holder === undefined) return <HolderLink id={id} />;
  return (
    <Link href={at("leases", id)} title={id}>
      {holder}
    </Link>
  );
}

function wantsOf(event: FeedEvent): string {
  const { items } = factsOf(event["ask"]);
  return listOf(items)
    .map((item) => {
      const { pool, count } = item;
      const of = count === 1 ? text(pool) : `${text(pool)} ×${text(count)}`;
      const conditions = conditionsText(item);
      return conditions === "" ? of : `${of} (${conditions})`;
    })
    .join(", ");
}

function resourcesOf(claims: unknown): ReactNode {
  return listOf(claims).map(({ id, resource, amount }, index) => {
    const amounts = amountText(factsOf(amount) as Readonly<Record<string, number>>);
    return (
      <span key={text(id)}>
        {index === 0 ? "" : ", "}
        <Link href={at("resources", text(resource))}>{text(resource)}</Link>
        {amounts === "" ? null : ` (${amounts})`}
      </span>
    );
  });
}

function backOf(back: unknown): ReactNode {
  return listOf(back).map(({ resource, state, restsUntil }, index) => (
    <span key={text(resource)}>
      {index === 0 ? "" : ", "}
      <Link href={at("resources", text(resource))}>{text(resource)}</Link>
      {restsUntil !== undefined
        ? ", which cools down"
        : state === "free"
          ? ""
          : `, which is ${stateWords(state)}`}
    </span>
  ));
}

function because(event: FeedEvent): string {
  const { by, why } = factsOf(event["reason"]);
  if (by === undefined) return "";
  return ` (by ${text(by)}${why === "" ? "" : `: ${text(why)}`})`;
}
