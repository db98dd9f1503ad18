/** What events say about a resource or a pool, after its name. A new type of event needs a line here. */

import { type Facts, factsOf, listOf, text } from "../../../src/core/explain/event-facts.ts";
import type { DurableEvent, WaitCode } from "../../../src/core/model/event.ts";
import { after, stateWords } from "./event-facts.ts";

type Verb = (event: Facts) => string;
type Verbs<Subject extends string> = Readonly<
  Record<Extract<DurableEvent["type"], `${Subject}-${string}`>, Verb>
>;

const ofResources: Verbs<"resource" | "cluster"> = {
  "resource-added": ({ pool, dynamic, cluster, why }) => {
    if (cluster !== undefined) return `is made for ${text(pool)}${after(why)}`;
    return `was ${dynamic === true ? "made on demand" : "added"} in ${text(pool)}${after(why)}`;
  },
  "resource-rested": ({ state }) => `went back to ${text(state)} after its cooldown`,
  "resource-changed": changed,
  "resource-removed": () => "was removed",
  "resource-retired": ({ movesTo }) => {
    const { pool } = factsOf(movesTo);
    return pool === undefined
      ? "is no longer configured, and goes after its release"
      : `moves to ${text(pool)} after its release`;
  },
  "resource-kept": () => "is configured again, and stays",
  "resource-moved": ({ pool }) => `moved to ${text(pool)}`,
  "resource-relabelled": ({ labels }) => `has other labels now${after(labelsText(labels))}`,
  "resource-resized": () => "has another capacity now",
  "resource-adopted": ({ dynamic }) =>
    dynamic === true ? "is no longer listed, and kept on demand" : "is listed in the file now",
  "cluster-moved": ({ state, why }) => `is ${stateWords(state)}${after(why)}`,
  "cluster-wanted": ({ wanted, why }) => `is to be ${text(wanted)}${after(why)}`,
  "cluster-reported": reported,
  "cluster-held": ({ hold }) =>
    hold === null ? "is no longer kept for debugging" : "is kept for debugging",
  "cluster-lost": ({ why }) => `is lost${after(why)}`,
  "cluster-stuck": () => "takes too long to be destroyed",
  "cluster-abandoned": () => "is abandoned: what is left of it is not known to Berth any more",
};

const ofPools: Verbs<"pool"> = {
  "pool-defined": () => "was configured",
  "pool-retired": () => "was removed from the file, and goes when its last resource is released",
  "pool-removed": () => "is gone",
  "pool-suspended": ({ why }) => `is suspended${after(why)}`,
  "pool-resumed": () => "lends again",
  "pool-signalled": ({ throttled, evidence }) =>
    throttled === true
      ? `is throttled by its provider, as a holder reports${after(evidence)}`
      : "is not throttled, as a holder reports",
  "pool-admitted": ({ grants }) => `may lend ${text(grants)} more: the check found capacity`,
  "pool-withheld": ({ why }) => `lends nothing${after(why)}`,
};

const ofNobody: Verbs<"orphan" | "spaces" | "priorities" | "event" | "hub"> = {
  "hub-defined": ({ name }) => `The hub ${text(name)} was configured`,
  "hub-retired": ({ name }) => `The hub ${text(name)} was removed from the file`,
  "hub-set": ({ name, state }) => `The hub ${text(name)} is ${text(state)}`,
  "hub-probed": ({ name, error }) => {
    if (typeof error === "string") return `The hub ${text(name)} cannot be reached${after(error)}`;
    return error === null
      ? `The hub ${text(name)} answers again`
      : `The hub ${text(name)} was probed`;
  },
  "spaces-defined": () => "The spaces were configured",
  "priorities-defined": () => "The priorities were configured",
  "event-skipped": ({ was, why }) => `An event ${text(was)} was skipped${after(why)}`,
  "orphan-found": ({ name }) => `A cluster ${text(name)} was found that Berth does not know`,
  "orphan-gone": () => "A cluster that Berth did not know is gone",
};

const verbs: Readonly<Record<string, Verb>> = { ...ofResources, ...ofPools, ...ofNobody };

/** Undefined: the type is not known, or it is about a request. */
export function verbOf(event: Facts): string | undefined {
  return verbs[text(event["type"])]?.(event);
}

function changed({ drained, state, note, labels, userData, userDataChanges }: Facts): string {
  const parts = [
    drained === true ? "was drained" : drained === false ? "was undrained" : "",
    state === undefined ? "" : (settings.get(text(state)) ?? `was set to ${text(state)}`),
    labels === undefined ? "" : "got other labels",
    userData === undefined && userDataChanges === undefined ? "" : "got other user data",
  ].filter((part) => part !== "");
  if (parts.length === 0) return `has a note${after(note)}`;
  return `${parts.join(" and ")}${after(note)}`;
}

const settings = new Map([
  ["free", "was returned to service"],
  ["quarantined", "was quarantined"],
]);

/** Whether a report of a driver has more than its own notes, which nobody sees. */
export function saysMore(event: Facts): boolean {
  return reportParts(event) !== "";
}

function reported(event: Facts): string {
  const found = reportParts(event);
  return found === "" ? "is in the hands of its driver" : `reports ${found}`;
}

function reportParts({ progress, message, version, apiUrl, stuck }: Facts): string {
  const parts = [
    typeof progress === "number" ? `${Math.round(progress * 100)} %` : "",
    text(message),
    text(version) === "" ? "" : `version ${text(version)}`,
    text(apiUrl) === "" ? "" : `its API server ${text(apiUrl)}`,
    Array.isArray(stuck) && stuck.length > 0 ? `what blocks it: ${stuck.map(text).join(", ")}` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function labelsText(labels: unknown): string {
  return Object.entries(factsOf(labels))
    .map(([key, value]) => `${key}=${text(value)}`)
    .join(", ");
}

/** What a request waited for last, after "after waiting for". */
const waits: Readonly<Record<WaitCode, string>> = {
  no_free: "a free resource",
  behind_others: "those ahead",
  kept_for_others: "those ahead",
  not_enough_free: "enough free ones",
  no_room: "capacity",
  group_incomplete: "its group",
  none_usable: "a usable one",
  paced: "the pace",
  limit_reduced: "the pace, which is reduced",
  admission: "admission",
  limit_reached: "the limit",
  quota_reached: "its quota",
  cluster_creating: "a new cluster",
  cluster_resuming: "a cluster to wake up",
  cluster_limit: "the limit of clusters",
  suspended: "its pool, which was suspended",
};

const waitTexts = new Map<string, string>(Object.entries(waits));

export function waitText(code: unknown): string {
  const what = waitTexts.get(text(code));
  return what === undefined ? "" : ` after waiting for ${what}`;
}

/** `a free resource`: what requests with this reason wait for. */
export function waitCause(code: string): string {
  return waitTexts.get(code) ?? code.replaceAll("_", " ");
}

/** Whether the lease was made to clean something. */
export function isCleaning({ claims }: Facts): boolean {
  return listOf(claims).some(({ into }) => into === "cleaning");
}

/** Whether a worker got it to create, wake, stop or destroy a cluster. */
export function isWork({ claims }: Facts): boolean {
  return listOf(claims).some(({ purpose }) => purpose === "provision");
}

/** Why a start rate has changed. */
export function causeWords(how: string): string {
  return causes[how] ?? how;
}

const causes: Readonly<Record<string, string>> = {
  throttled: "a holder reported throttling",
  clean: "used up without throttling",
  configured: "new configuration",
};
