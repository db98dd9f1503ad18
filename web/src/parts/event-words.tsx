/** An event as a sentence with links. An unknown type of event is shown by its name. */
import type { ReactNode } from "react";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import { holderOf } from "../data/holder-names.ts";
import { at } from "../router.ts";
import { Link } from "./link.tsx";
import { amountText, conditionsText } from "./wants.ts";

type Facts = Readonly<Record<string, unknown>>;

export function EventWords({ event }: { event: FeedEvent }) {
  return <span className="words">{sentenceOf(event)}</span>;
}

function sentenceOf(event: FeedEvent): ReactNode {
  switch (event.type) {
    case "request-queued":
      return (
        <>
          {whoOf(event)} queues for {poolsOf(event)}
        </>
      );
    case "lease-granted":
      return (
        <>
          {whoOf(event)} gets {resourcesOf(event["claims"])}
        </>
      );
    case "request-left":
      return (
        <>
          {whoOf(event)} leaves the queue: {text(event["why"])}
          {because(event)}
        </>
      );
    case "priority-changed":
      return (
        <>
          {whoOf(event)} {event["aged"] === true ? "rises by waiting to" : "is set to"} priority{" "}
          {text(event["priority"])}
          {because(event)}
        </>
      );
    case "lease-ended":
      return (
        <>
          {whoOf(event)} {endings[text(event["why"])] ?? `ends (${text(event["why"])})`}
          {backOf(event["back"])}
          {because(event)}
        </>
      );
    case "notice-given":
      return (
        <>
          {whoOf(event)} must release its lease soon
          {because(event)}
        </>
      );
    case "lease-revoked":
      return (
        <>
          {whoOf(event)} loses its lease, and may go on until it learns so
          {because(event)}
        </>
      );
    case "claim-ended":
      return (
        <>
          {whoOf(event)} releases {backOf([event["back"]], "")}
        </>
      );
    case "rate-changed":
      return rateWords(event);
    case "cluster-moved":
    case "cluster-reported":
    case "cluster-held":
    case "cluster-lost":
    case "cluster-stuck":
    case "cluster-abandoned":
      return (
        <>
          <Link href={at("clusters", text(event["resource"]))}>{text(event["resource"])}</Link>{" "}
          {clusterWords(event)}
          {because(event)}
        </>
      );
    case "orphan-found":
      return `A cluster exists outside that nobody knows of: ${text(event["name"])}`;
    case "orphan-gone":
      return `The cluster ${text(event["instance"])} is no longer an orphan`;
    default:
      return otherwise(event);
  }
}

function clusterWords(event: FeedEvent): string {
  const why = text(event["why"]) === "" ? "" : `: ${text(event["why"])}`;
  switch (event.type) {
    case "cluster-moved":
      return `is ${text(event["state"])}${why}`;
    case "cluster-reported":
      return `reports ${reportedIn(event)}`;
    case "cluster-held":
      return event["hold"] === null ? "is no longer held for debugging" : "is held for debugging";
    case "cluster-lost":
      return `is lost${why}`;
    case "cluster-stuck":
      return "takes too long to be destroyed";
    default:
      return "is abandoned: what is left of it is not known to Berth any more";
  }
}

function reportedIn(event: FeedEvent): string {
  const { progress, message, version } = event;
  const parts = [
    typeof progress === "number" ? `${Math.round(progress * 100)} %` : "",
    text(message),
    text(version) === "" ? "" : `version ${text(version)}`,
  ];
  return parts.filter((part) => part !== "").join(", ") || "what its driver has found out";
}

function rateWords(event: FeedEvent): ReactNode {
  const { pool, rate, cause, advised } = event;
  const { how, ...reason } = factsOf(cause);
  const verb = advised === true ? "would start" : "starts";
  return (
    <>
      <Link href={at("pools", text(pool))}>{text(pool)}</Link>{" "}
      {how === "unpinned" ? "is unpinned" : `${verb} ${text(rate)} per minute: ${text(how)}`}
      {because({ ...event, reason })}
    </>
  );
}

const endings: Readonly<Record<string, string>> = {
  released: "releases ",
  expired: "expired and loses ",
  lifetime: "reached its max lifetime and loses ",
  revoked: "was ended by an operator and loses ",
  uncollected: "never fetched ",
  reset: "was reset and loses ",
};

function otherwise(event: FeedEvent): ReactNode {
  const { resource, pool, type } = event;
  const verb = type.replace(/^(resource|pool|lease|request)-/, "").replaceAll("-", " ");
  const subject =
    typeof resource === "string" ? (
      <Link href={at("resources", resource)}>{resource}</Link>
    ) : typeof pool === "string" ? (
      <Link href={at("pools", pool)}>{pool}</Link>
    ) : (
      whoOf(event)
    );
  const facts = ["state", "drained", "note", "grants", "why"].flatMap((key) =>
    event[key] === undefined || event[key] === "" ? [] : [`${key} ${text(event[key])}`],
  );
  return (
    <>
      {subject} {verb}
      {facts.length === 0 ? "" : `: ${facts.join(", ")}`}
      {because(event)}
    </>
  );
}

function whoOf(event: FeedEvent): ReactNode {
  const id = text(event["id"]);
  if (id === "") return null;
  return (
    <Link href={at("leases", id)}>
      {typeof event["holder"] === "string" ? event["holder"] : (holderOf(id) ?? id)}
    </Link>
  );
}

function poolsOf(event: FeedEvent): string {
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
  return listOf(claims).map(({ id, resource, amount }) => {
    const amounts = amountText(factsOf(amount) as Readonly<Record<string, number>>);
    return (
      <span key={text(id)}>
        <Link href={at("resources", text(resource))}>{text(resource)}</Link>{" "}
        {amounts === "" ? null : `(${amounts}) `}
      </span>
    );
  });
}

function backOf(back: unknown, before = ""): ReactNode {
  return listOf(back).map(({ resource, state }) => (
    <span key={text(resource)}>
      {before}
      <Link href={at("resources", text(resource))}>{text(resource)}</Link>
      {state === "free" ? " " : ` (${text(state)}) `}
    </span>
  ));
}

function because(event: FeedEvent): string {
  const { by, why } = factsOf(event["reason"]);
  if (by === undefined) return "";
  return ` (by ${text(by)}${why === "" ? "" : `: ${text(why)}`})`;
}

function listOf(value: unknown): Facts[] {
  return Array.isArray(value) ? value.map(factsOf) : [];
}

function factsOf(value: unknown): Facts {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}
