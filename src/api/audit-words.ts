/** An entry of the audit as a sentence, after the name of who did it: `drained aws-3`. */
import type { DurableEvent } from "../core/model/event.ts";

/** Text, or what the entry is about: each reader shows names in its own way, such as links. */
export type AuditPart = string | { readonly of: "resources" | "pools" | "holder" };

type Detail = Readonly<Record<string, unknown>>;

/** What the sentence depends on. */
interface Facts {
  readonly action: string;
  readonly detail?: Detail;
  readonly resources?: readonly string[];
  readonly lease?: string;
  readonly way?: string;
}

type Sentence = (detail: Detail, entry: Facts) => readonly AuditPart[];

const resources = { of: "resources" } as const;
const pools = { of: "pools" } as const;
const holder = { of: "holder" } as const;

const ofLeases: Sentences<"lease" | "claim" | "request" | "priority" | "notice" | "room"> = {
  "request-queued": () => ["asked for ", pools, " for ", holder],
  "request-left": ({ end }) =>
    end === "cancelled"
      ? ["removed ", holder, " from the queue"]
      : ["dropped ", holder, " from the queue", colon(end)],
  "priority-changed": ({ priority, starved }) =>
    starved === true
      ? ["put ", holder, " first: its space got nothing of ", pools, " for its patience"]
      : ["set the priority of ", holder, ` to ${text(priority)}`],
  "room-kept": () => ["reserves capacity for ", holder],
  "lease-granted": (_, { way }) =>
    way === "clock"
      ? ["granted ", resources, " to ", holder]
      : ["got ", resources, " for ", holder],
  "lease-delivered": () => ["delivered the lease of ", holder],
  "lease-ended": ended,
  "lease-revoked": () => ["revoked the lease of ", holder],
  "claim-ended": ({ end }) =>
    end === "hold"
      ? ["auto-released ", resources, " of ", holder]
      : ["released ", resources, " of ", holder],
  "claim-replaced": () => ["replaced a lost cluster of ", holder],
  "notice-given": () => ["told ", holder, " to release its lease soon"],
};

const ofResources: Sentences<"resource" | "cluster"> = {
  "resource-added": () => ["added ", resources],
  "resource-removed": () => ["removed ", resources],
  "resource-retired": () => ["removes ", resources, " after its release"],
  "resource-kept": () => ["keeps ", resources, ", which is configured again"],
  "resource-moved": () => ["moved ", resources, " to ", pools],
  "resource-relabelled": ({ labels }) => ["changed the labels of ", resources, labelsText(labels)],
  "resource-resized": () => ["changed the capacity of ", resources],
  "resource-adopted": () => ["took over ", resources],
  "resource-changed": changed,
  "resource-rested": () => ["ended the cooldown of ", resources],
  "cluster-moved": ({ state }) => ["moved ", resources, state ? ` to ${text(state)}` : " on"],
  "cluster-wanted": ({ wanted }) => [wantedVerbs.get(text(wanted)) ?? "changed ", resources],
  "cluster-reported": () => ["reported about ", resources],
  "cluster-held": ({ held }) =>
    held === false
      ? ["ended the debugging hold of ", resources]
      : ["held ", resources, " for debugging"],
  "cluster-lost": () => ["declared ", resources, " lost"],
  "cluster-stuck": () => ["cannot destroy ", resources],
  "cluster-abandoned": () => ["abandoned ", resources],
};

const ofPools: Sentences<"pool" | "rate"> = {
  "pool-defined": () => ["configured ", pools],
  "pool-retired": () => ["removes ", pools, " after its last release"],
  "pool-removed": () => ["removed ", pools],
  "pool-suspended": () => ["suspended ", pools],
  "pool-resumed": () => ["resumed ", pools],
  "pool-signalled": ({ throttled }) =>
    throttled === false
      ? ["reported that ", pools, " is not throttled"]
      : ["reported that ", pools, " is throttled"],
  "pool-admitted": ({ grants }) => ["admitted ", `${text(grants)} more of `, pools],
  "pool-withheld": () => ["withheld ", pools],
  "rate-changed": rated,
};

const ofOthers: Sentences<"spaces" | "priorities" | "event" | "hub" | "orphan"> = {
  "spaces-defined": () => ["configured the spaces"],
  "priorities-defined": () => ["configured the priorities"],
  "event-skipped": ({ was }) => [`skipped an event ${text(was)}`],
  "hub-defined": ({ hub }) => [`configured ${hubText(hub)}`],
  "hub-retired": ({ hub }) => [`removed ${hubText(hub)}`],
  "hub-set": ({ hub, state }) => [`${hubVerbs.get(text(state)) ?? "changed"} ${hubText(hub)}`],
  "hub-probed": ({ hub }) => [`probed ${hubText(hub)}`],
  "orphan-found": () => ["found a cluster that no pool has"],
  "orphan-gone": () => ["no longer finds a cluster that no pool had"],
};

/** Of entries that no event stands behind. */
const own: Readonly<Record<string, Sentence>> = {
  "audit-started": () => ["started this record"],
  "entries-deleted": () => ["deleted old entries of this record"],
  "configuration-changed": ({ changes }) => [`changed the configuration${colon(counts(changes))}`],
  "journal-replaced": () => ["found another journal, or an older copy of it"],
  "events-missing": () => ["found events missing that were deleted before they were recorded"],
  "call-refused": ({ call, object }, { lease }) => [
    `was refused: ${text(call)}`,
    object === undefined ? "" : ` (${text(object)})`,
    ...(lease === undefined ? [] : [" of ", holder]),
  ],
  "sign-in-refused": ({ call }) => [`sent credentials that were refused: ${text(call)}`],
};

type Sentences<Subject extends string> = Readonly<
  Record<Extract<DurableEvent["type"], `${Subject}-${string}`>, Sentence>
>;

const sentences: Readonly<Record<string, Sentence>> = {
  ...ofLeases,
  ...ofResources,
  ...ofPools,
  ...ofOthers,
  ...own,
};

/** An action of a newer server is shown by its name. */
export function auditWords(entry: Facts): readonly AuditPart[] {
  const sentence = Object.hasOwn(sentences, entry.action) ? sentences[entry.action] : undefined;
  if (sentence !== undefined) return sentence(entry.detail ?? {}, entry);
  return [
    `${entry.action.replaceAll("-", " ")} `,
    entry.resources === undefined ? pools : resources,
  ];
}

/** The same without any name, such as `drained`: for a search, and for a table with a column of names. */
export function auditVerb(entry: Facts): string {
  const words = auditWords(entry).map((part) => (typeof part === "string" ? part : "\n"));
  return (words.join("").split("\n")[0] ?? "").trim();
}

function ended({ end }: Detail, entry: Facts): readonly AuditPart[] {
  if (entry.resources === undefined || entry.resources.length === 0) {
    const why =
      end === "released" ? ", which held nothing any more" : colon(ends.get(text(end)) ?? end);
    return ["ended the lease of ", holder, why];
  }
  if (end === "released") return ["released ", resources, " of ", holder];
  if (end === "revoked") return ["ended the lease of ", holder, " on ", resources];
  return ["took ", resources, " back from ", holder, colon(ends.get(text(end)) ?? end)];
}

const ends = new Map([
  ["expired", "no heartbeat came in time"],
  ["lifetime", "its max lifetime was reached"],
  ["uncollected", "nobody fetched the lease"],
  ["reset", "it was reset"],
]);

/** A pool may use any other word as a state. */
const stateVerbs = new Map([["quarantined", "quarantined"]]);

function changed({ state, drained, labels, userDataKeys }: Detail): readonly AuditPart[] {
  const verb = stateVerbs.get(text(state));
  const verbs = [
    ...(drained === true ? ["drained"] : drained === false ? ["undrained"] : []),
    ...(verb === undefined ? [] : [verb]),
  ];
  const [set, where] = state === "free" ? ["returned", "to service"] : ["set", `to ${text(state)}`];
  const other = state !== undefined && verb === undefined ? `${set} ${where}` : "";
  const keys = Array.isArray(userDataKeys) ? `user data (${userDataKeys.join(", ")})` : "";
  const parts = [labels === undefined ? "" : "labels", keys].filter((part) => part !== "");
  if (verbs.length > 0) {
    const more = [other, parts.length === 0 ? "" : `changed its ${parts.join(" and ")}`];
    const tail = more.filter((part) => part !== "").map((part) => ` and ${part}`);
    return [`${verbs.join(" and ")} `, resources, ...tail];
  }
  if (other !== "") return [`${set} `, resources, ` ${where}`];
  return [`changed the ${parts.join(" and ") || "note"} of `, resources];
}

function rated({ rate, how }: Detail): readonly AuditPart[] {
  const to = rate === null || rate === undefined ? "" : ` to ${round(rate)} per minute`;
  if (how === "pinned") return ["pinned the start rate of ", pools, to];
  if (how === "unpinned") return ["unpinned the start rate of ", pools];
  if (how === "throttled") return ["lowered the start rate of ", pools, to];
  if (how === "clean") return ["raised the start rate of ", pools, to];
  return ["changed the start rate of ", pools, to];
}

const wantedVerbs = new Map([
  ["ready", "asked to wake "],
  ["hibernated", "asked to hibernate "],
  ["destroyed", "asked to destroy "],
]);

const hubVerbs = new Map([
  ["active", "activated"],
  ["cordoned", "cordoned"],
  ["draining", "drained"],
]);

function hubText(hub: unknown): string {
  return hub === undefined ? "a hub" : `the hub ${text(hub)}`;
}

/** `249 pools defined, 1,024 resources added`: what a new configuration has changed. */
export function counts(changes: unknown): string {
  if (typeof changes !== "object" || changes === null) return "";
  return Object.entries(changes)
    .map(([type, count]) => countText(type, Number(count)))
    .join(", ");
}

function countText(type: string, count: number): string {
  const [subject = "", ...verb] = type.split("-");
  const done = verb.join(" ");
  if (subject.endsWith("s")) return `${subject} ${done}`;
  const noun = subject === "rate" ? "start rate" : subject;
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"} ${done}`;
}

function labelsText(labels: unknown): string {
  if (typeof labels !== "object" || labels === null) return "";
  return colon(
    Object.entries(labels)
      .map(([key, value]) => `${key}=${text(value)}`)
      .join(", "),
  );
}

function colon(value: unknown): string {
  return text(value) === "" ? "" : `: ${text(value)}`;
}

function text(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

function round(value: unknown): string {
  return String(Number(Number(value).toPrecision(3)));
}
