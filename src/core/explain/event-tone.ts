/** Whether an event is what everybody wants, ordinary, or a reason to look: the colour beside it. */
import { factsOf, listOf, text } from "./event-facts.ts";

type Tone = "good" | "plain" | "late" | "bad";

const badEnds = ["expired", "lifetime", "revoked", "uncollected", "reset"];

/** A client that no longer wants it is no trouble. */
const byClient = ["cancelled", "disconnected"];

const tones: Readonly<Record<string, Tone>> = {
  "lease-granted": "good",
  "pool-resumed": "good",
  "pool-admitted": "good",
  "lease-revoked": "late",
  "notice-given": "late",
  "room-kept": "late",
  "pool-suspended": "late",
  "cluster-stuck": "late",
  "orphan-found": "late",
  "pool-withheld": "bad",
  "cluster-lost": "bad",
  "cluster-abandoned": "bad",
};

export function toneOf(event: Readonly<Record<string, unknown>>): Tone {
  const type = text(event["type"]);
  if (broken(event)) return "bad";
  if (type === "lease-ended") return badEnds.includes(text(event["why"])) ? "late" : "plain";
  if (type === "request-left") return byClient.includes(text(event["why"])) ? "plain" : "late";
  if (type === "pool-signalled") return event["throttled"] === true ? "late" : "plain";
  if (type === "rate-changed") {
    return factsOf(event["cause"])["how"] === "throttled" ? "late" : "plain";
  }
  if (type === "resource-changed") return event["state"] === "quarantined" ? "bad" : "plain";
  return tones[type] ?? "plain";
}

/** A cleaner that failed too often gives back what nobody may have. */
function broken({ back }: Readonly<Record<string, unknown>>): boolean {
  return [...listOf(back), factsOf(back)].some(({ state }) => state === "quarantined");
}

/** Whether somebody should look at it. */
export function isTrouble(event: Readonly<Record<string, unknown>>): boolean {
  return ["late", "bad"].includes(toneOf(event));
}
