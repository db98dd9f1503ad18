/** The thread behind `StatsWorker`, with its own connection, which only reads. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { answerQuery } from "./answer-query.ts";
import { HistoryReader } from "./history/reader.ts";
import { type QueryKind, type StatsQueries, sentError } from "./stats-query.ts";

interface Message {
  readonly number: number;
  readonly kind: QueryKind;
  readonly question: StatsQueries[QueryKind]["question"];
}

/** The caller no longer needs the answer. */
interface Cancel {
  readonly number: number;
  readonly cancel: true;
}

const path: unknown = workerData;
let reader: HistoryReader | undefined;

const running = new Map<number, AbortController>();

parentPort?.on("message", (message: Message | Cancel) => {
  if ("cancel" in message) return running.get(message.number)?.abort();
  const { number } = message;
  const cancelled = new AbortController();
  running.set(number, cancelled);
  answer(message, cancelled.signal)
    .then(
      (found) => parentPort?.postMessage({ number, answer: found }),
      (error: unknown) => parentPort?.postMessage({ number, failure: sentError(error) }),
    )
    .finally(() => running.delete(number));
});

async function answer({ number, kind, question }: Message, signal: AbortSignal): Promise<unknown> {
  const progress = (share: number) => parentPort?.postMessage({ number, progress: share });
  return await answerQuery(openReader, kind, question, { signal, progress });
}

function openReader(): HistoryReader {
  reader ??= new HistoryReader(new DatabaseSync(String(path), { readOnly: true }));
  return reader;
}
