/** The page's texts for a pool with `admission`. */
import type { Pool, WaitingRequest } from "../../../src/api/schemas.ts";
import type { FeedEvent } from "../../../src/client/event-feed.ts";
import type { Figure } from "../parts/figures.tsx";
import { grouped } from "../parts/numbers.ts";
import { leftText } from "../parts/time-words.ts";

type Admission = NonNullable<Pool["admission"]>;

/** How many more claims may be granted now. */
export function creditsAt({ credits, until }: Admission, nowMs: number): number {
  return until === null || Date.parse(until) <= nowMs ? 0 : credits;
}

const found: Readonly<Record<string, string>> = {
  room: "capacity found",
  none: "no capacity found",
  unknown: "check failed",
};

/** A newer server may send other words. They are shown as they are. */
export function foundText(what: string | null): string {
  return what === null ? "" : (found[what] ?? what);
}

/** Neither open nor closed. */
const whenNeeded = "checked when needed";

/** The state in a word or two for a tile; the card has the same with its reason. */
export function admissionWord(
  admission: Admission,
  waiting: number,
  nowMs: number,
): Pick<Figure, "value" | "aside"> {
  const { found } = admission;
  const { words } = admissionStatus({
    ...{ credits: creditsAt(admission, nowMs), found, waiting },
  });
  // Without "checked" it is as high as the figures beside it.
  if (words === whenNeeded) return { value: "–", aside: "when needed" };
  return { value: words.split(":")[0] ?? words };
}

/** `in 12s`: of a check that some request waits for. Empty: none does, or it is not known. */
export function nextCheckWords(
  { nextLookAt }: Admission,
  { credits, waiting }: Pick<AdmissionFacts, "credits" | "waiting">,
  nowMs: number,
): string {
  // An older server does not say it.
  if (nextLookAt == null || credits > 0 || waiting === 0) return "";
  const left = leftText(Date.parse(nextLookAt) - nowMs);
  return left === "now" ? "any moment" : `in ${left}`;
}

/** Requests that wait only for admission, in queue order. */
export function waitingForAdmission(
  requests: readonly WaitingRequest[],
  pool: string,
): readonly WaitingRequest[] {
  return requests.filter(({ reason }) => reason.code === "admission" && reason.pool === pool);
}

export interface AdmissionFacts {
  readonly credits: number;
  readonly found: string | null;
  /** Requests that wait for nothing else. */
  readonly waiting: number;
}

interface LeadFacts extends AdmissionFacts {
  readonly free: number;
  /** Requests that wait for a resource to come free, before any check. */
  readonly beforeCheck: number;
}

/** Requests of the pool that no check can help yet. */
export function waitingForFree(requests: readonly WaitingRequest[], pool: string): number {
  return requests.filter(({ reason }) => reason.code === "no_free" && reason.pool === pool).length;
}

/** What it means for those who wait, and what to do, in a sentence. */
export function admissionLead(facts: LeadFacts): string {
  const { credits, found, waiting, free, beforeCheck } = facts;
  const requests = waiting === 1 ? "1 request waits" : `${grouped(waiting)} requests wait`;
  if (credits > 0) return "The check has found capacity: the next requests start.";
  if (found === "unknown") {
    return `Nothing is lent until the check works again${waiting === 0 ? "" : `; ${requests} for it`}. Look
      whether the server reaches the cluster, and whether its account may read it.`;
  }
  if (waiting === 0 && beforeCheck > 0) {
    const wait = beforeCheck === 1 ? "1 waits" : `${grouped(beforeCheck)} wait`;
    return `${wait} for a free resource. The check runs once one is free.`;
  }
  if (waiting === 0) return "The check runs once a request waits for nothing else.";
  if (found === "room")
    return `${requests}: others have taken what the check found. It runs again.`;
  const unused = free === 0 ? "" : ` although ${grouped(free)} ${free === 1 ? "is" : "are"} free`;
  const start = waiting === 1 ? "It starts by itself" : "They start by themselves";
  return `${requests}${unused}: the cluster has no capacity for one more. ${start} when the check finds some.`;
}

/** Whether the next request may pass. Without a request that waits for it no check runs. */
export function admissionStatus(facts: AdmissionFacts): {
  readonly open: boolean;
  readonly words: string;
  readonly bad?: boolean;
} {
  const { credits, found, waiting } = facts;
  if (credits > 0) return { open: true, words: "open" };
  if (found === "unknown") return { open: false, words: "closed: the check fails", bad: true };
  if (waiting === 0) return { open: true, words: whenNeeded };
  // It has just found some, which others have taken.
  if (found === "room") return { open: true, words: "open" };
  return { open: false, words: found === "none" ? "closed: no capacity" : "closed" };
}

/** An answer of the check, and how often in a row it was the same. */
export interface Answer {
  readonly at: string;
  readonly found: boolean;
  readonly why: string;
  readonly times: number;
}

/** The latest first. Answers in a row that say the same are one, at the time of the first of them. */
export function answersOf(events: readonly FeedEvent[]): readonly Answer[] {
  const answers: Answer[] = [];
  for (const { at, type, why } of events) {
    const found = type === "pool-admitted";
    const said = found ? "" : String(why ?? "");
    const last = answers.at(-1);
    if (last?.found === found && last.why === said) {
      answers[answers.length - 1] = { ...last, at, times: last.times + 1 };
    } else answers.push({ at, found, why: said, times: 1 });
  }
  return answers;
}

/** A failure is work for somebody; a cluster without capacity is not. */
export function answerWords({ found, why }: Pick<Answer, "found" | "why">): string {
  if (found) return "capacity";
  return why.startsWith("the check failed") ? "check failed" : "no capacity";
}
