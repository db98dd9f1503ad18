/** The other side of `Analyst`: a thread with a connection of its own, which only reads. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { HistoryReader } from "./history/reader.ts";
import type { JobKind, Jobs } from "./job.ts";
import { study } from "./study.ts";

interface Message {
  readonly number: number;
  readonly kind: JobKind;
  readonly ask: Jobs[JobKind]["ask"];
}

/** Nobody wants the answer any more. */
interface Cancel {
  readonly number: number;
  readonly cancel: true;
}

const path = String(workerData);
const database = new DatabaseSync(path, path === ":memory:" ? {} : { readOnly: true });
const reader = new HistoryReader(database);

const running = new Map<number, AbortController>();

parentPort?.on("message", (message: Message | Cancel) => {
  if ("cancel" in message) return running.get(message.number)?.abort();
  const { number, kind, ask } = message;
  const cancelled = new AbortController();
  running.set(number, cancelled);
  const progress = (share: number) => parentPort?.postMessage({ number, progress: share });
  study(reader, kind, ask, { signal: cancelled.signal, progress })
    .then(
      (answer) => parentPort?.postMessage({ number, answer }),
      (error: unknown) => parentPort?.postMessage({ number, error }),
    )
    .finally(() => running.delete(number));
});
