/** The other side of `Analyst`: a thread with a connection of its own, which only reads. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { HistoryReader } from "../history/reader.ts";
import type { JobKind, Jobs } from "./job.ts";
import { study } from "./study.ts";

interface Message {
  readonly number: number;
  readonly kind: JobKind;
  readonly ask: Jobs[JobKind]["ask"];
}

const path = String(workerData);
const database = new DatabaseSync(path, path === ":memory:" ? {} : { readOnly: true });
const reader = new HistoryReader(database);

parentPort?.on("message", ({ number, kind, ask }: Message) => {
  study(reader, kind, ask).then(
    (answer) => parentPort?.postMessage({ number, answer }),
    (error: unknown) => parentPort?.postMessage({ number, error }),
  );
});
