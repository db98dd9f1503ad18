/** What happened in a namespace, as text: its events, and the state of its pods. */
import type { KubeList, KubeObject } from "../../kubernetes/kube-objects.ts";
import type { LogBudget } from "../driver.ts";

interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

interface PodObject extends KubeObject {
  readonly status?: { readonly phase?: string; readonly message?: string };
}

type Get = <Item>(path: readonly string[], answerMs: number) => Promise<KubeList<Item>>;

/** Ends within the budget, with what could be read. */
export async function namespaceLogs(name: string, budget: LogBudget, get: Get): Promise<string> {
  const until = performance.now() + budget.timeMsMax;
  const left = () => Math.max(1, until - performance.now());
  const read = async <Item>(plural: string, line: (item: Item) => string): Promise<string[]> => {
    try {
      const { items } = await get<Item>(["api", "v1", "namespaces", name, plural], left());
      return items.map(line);
    } catch (error) {
      return [`[${plural}: ${error instanceof Error ? error.message : String(error)}]`];
    }
  };
  const pods = await read<PodObject>("pods", ({ metadata, status }) =>
    `pod ${metadata.name} ${status?.phase ?? ""} ${status?.message ?? ""}`.trimEnd(),
  );
  const events = await read<EventObject>("events", eventLine);
  const text = [...pods, ...events.sort()].join("\n");
  return Buffer.from(text).subarray(-budget.bytesMax).toString("utf8");
}

function eventLine(event: EventObject): string {
  const { type = "", reason = "", message = "", involvedObject = {} } = event;
  const at = event.lastTimestamp ?? event.eventTime ?? "";
  return `${at} ${type} ${involvedObject.kind ?? ""}/${involvedObject.name ?? ""} ${reason}: ${message}`;
}
