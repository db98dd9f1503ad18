import type { FeedEvent } from "../../client/event-feed.ts";
import { rankWords } from "../../core/explain/rank-words.ts";
import { plain } from "../terminal/text.ts";

/** `2030-01-01T00:00:00.000Z  17  lease-granted  1m7gc8k0qpk5kpcd holder=ci/1 claims=aws-1` */
export function eventLine({ seq, at, type, id, ...facts }: FeedEvent): string {
  const words =
    facts["starved"] === true
      ? [rankWords(facts)]
      : Object.entries(facts).map(([key, value]) => formatFact(key, value));
  const about = [...(typeof id === "string" ? [id] : []), ...words].join(" ");
  return plain(`${at}  ${String(seq).padStart(6)}  ${type.padEnd(16)}  ${about}`).trimEnd();
}

type Facts = Readonly<Record<string, unknown>>;

/** Shows the facts that people need; `-o json` has all. Prints unknown facts as JSON. */
function formatFact(key: string, value: unknown): string {
  switch (key) {
    case "ask": {
      const { holder, items } = factsOf(value);
      return `holder=${text(holder)} wants=${listOf(items, ["pool", "count"], wantsOf)}`;
    }
    case "claims":
      return `claims=${listOf(value, ["resource"], amountsOf)}`;
    case "back":
      return `back=${listOf(Array.isArray(value) ? value : [value], ["resource", "state"])}`;
    case "reason": {
      const { by, why } = factsOf(value);
      return why === "" ? `by=${text(by)}` : `by=${text(by)} reason=${text(why)}`;
    }
    default:
      return `${key}=${text(value)}`;
  }
}

/** `details` are shown in brackets after each element. */
function listOf(
  value: unknown,
  keys: readonly string[],
  details: (facts: Facts) => readonly string[] = () => [],
): string {
  if (!Array.isArray(value)) return text(value);
  const elements = value.map((each) => {
    const more = details(factsOf(each));
    const name = keys.map((key) => text(factsOf(each)[key])).join(":");
    return more.length === 0 ? name : `${name}(${more.join(",")})`;
  });
  return elements.join(",");
}

function amountsOf({ amount }: Facts): string[] {
  return Object.entries(factsOf(amount)).map(([key, value]) => `${key}=${text(value)}`);
}

function wantsOf({ amount, selector, resource }: Facts): string[] {
  const name = resource === undefined ? [] : [text(resource)];
  return [...name, ...amountsOf({ amount }), ...amountsOf({ amount: selector })];
}

function factsOf(value: unknown): Facts {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
