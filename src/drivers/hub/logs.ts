/** What is known about a cluster, as text: the conditions of its objects, and what else is collected. */
import { DriverError, type LogBudget } from "../driver.ts";
import { inWords, type StatusObject } from "./conditions.ts";

/** Reads one part of the evidence. Undefined: there is none. */
export type Source = (answerMs: number) => Promise<string | undefined>;

/** Asks one source after the other, as long as there is time. Keeps the end of what they say. */
export async function collect(sources: readonly Source[], budget: LogBudget): Promise<string> {
  const untilMs = performance.now() + budget.timeMsMax;
  const texts: string[] = [];
  for (const source of sources) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) {
      texts.push("[the rest was not read: there was no more time]");
      break;
    }
    try {
      const text = await source(leftMs);
      if (text !== undefined && text !== "") texts.push(text);
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      texts.push(`[could not be read: ${error.message}]`);
    }
  }
  return endOf(texts.join("\n"), budget.bytesMax);
}

/** An object's conditions, one in each line. */
export function conditionsText(object: StatusObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  const { kind = "", metadata, status } = object;
  const lines = (status?.conditions ?? []).map(
    (each) => `  ${each.status ?? ""} ${inWords(each)} ${each.lastTransitionTime ?? ""}`,
  );
  const state = metadata.deletionTimestamp === undefined ? "" : " (being deleted)";
  return [`${kind} ${metadata.name}${state}`, ...lines].join("\n");
}

function endOf(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // A character that is cut in two is left out.
  return bytes
    .subarray(bytes.length - bytesMax)
    .toString("utf8")
    .replace(/^\uFFFD+/, "");
}
