/** The thread behind `StatsWorker`, with its own connections, which only read. */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { journalPath } from "../journal/sqlite.ts";
import { SqliteJournalReader } from "../journal/sqlite-reader.ts";
import { answerQuery, type Sources } from "./answer-query.ts";
import { auditPath, readAuditFile } from "./audit/audit-file.ts";
import { AuditReader } from "./audit/reader.ts";
import { historyPath } from "./history/history-file.ts";
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

const folder: unknown = workerData;
let reader: HistoryReader | undefined;
let auditReader: AuditReader | undefined;

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
  return await answerQuery(sources, kind, question, { signal, progress });
}

const sources: Sources = {
  history: () => {
    const path = historyPath(String(folder));
    reader ??= new HistoryReader(new DatabaseSync(path, { readOnly: true }));
    return reader;
  },
  audit: () => {
    auditReader ??= new AuditReader(readAuditFile(auditPath(String(folder))));
    return auditReader;
  },
  // Opened for each search: the server may have to replace the files of its journal.
  journal: async (search) => {
    const journal = new SqliteJournalReader(journalPath(String(folder)));
    try {
      return await search(journal);
    } finally {
      journal.close();
    }
  },
};
