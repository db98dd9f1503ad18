/**
 * Creates load from its own process: each of many keep-alive connections acquires and releases in a
 * loop. Uses raw sockets, because an HTTP client costs more than the server that it measures.
 *
 * Started with the job as JSON in its first argument; prints the result as JSON.
 */
import { connect, type Socket } from "node:net";
import { type Dialogue, dialogues } from "./dialogues.ts";

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly pool: string;
  /** The API to use; default: Berth's own. */
  readonly api?: keyof typeof dialogues;
  /** So many requests a second, over all connections; default: as many as possible. */
  readonly perSecond?: number;
  /** Who asks, in turns; default: nobody in particular. */
  readonly tokens?: readonly string[];
}

export interface Load {
  readonly perSecond: number;
  /** With those of the warm-up. */
  readonly replies: number;
  readonly failures: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

const job = JSON.parse(process.argv[2] ?? "{}") as LoadJob;
let replies = 0;
let measuredReplies = 0;
let failures = 0;
const latenciesUs: number[] = [];
let measuring = false;

/** With `perSecond`: the connections that wait for their turn to send. */
const ready: (() => void)[] = [];

/** Sends what is due by now. A server that is too slow gets fewer requests, and no burst later. */
function pace(perSecond: number): NodeJS.Timeout {
  let lastAt = performance.now();
  let due = 0;
  return setInterval(() => {
    const now = performance.now();
    due = Math.min(due + ((now - lastAt) * perSecond) / 1_000, job.connections);
    lastAt = now;
    for (; due >= 1; due -= 1) {
      const send = ready.shift();
      if (send === undefined) break;
      send();
    }
  }, 1);
}

/**
 * Reads into one buffer and compares bytes. The load runs on the same machine as the server, so it
 * must cost much less than the server.
 */
function worker(_: unknown, index: number): Socket {
  const dialogue: Dialogue = dialogues[job.api ?? "berth"](job.pool, index, job.tokens);
  let sentAt = 0;
  const send = (text: string): void => {
    sentAt = performance.now();
    socket.write(text, "latin1");
  };
  const answered = (size: number, buffer: Uint8Array): boolean => {
    replies += 1;
    if (measuring) {
      measuredReplies += 1;
      if (measuredReplies % 16 === 0) latenciesUs.push((performance.now() - sentAt) * 1_000);
    }
    const next = dialogue.next((buffer as Buffer).subarray(0, size));
    if (next === undefined) failures += 1;
    const text = next ?? dialogue.first;
    if (job.perSecond === undefined) send(text);
    else ready.push(() => send(text));
    return true;
  };
  const onread = { buffer: Buffer.alloc(16 * 1024), callback: answered };
  const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true, onread });
  socket.on("connect", () => send(dialogue.first));
  return socket;
}

function measured(elapsedMs: number): Load {
  latenciesUs.sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round(latenciesUs[Math.floor(latenciesUs.length * share)] ?? 0);
  const perSecond = Math.round((measuredReplies * 1_000) / elapsedMs);
  return { perSecond, replies, failures, p50Us: at(0.5), p99Us: at(0.99) };
}

const sockets = Array.from({ length: job.connections }, worker);
const pacing = job.perSecond === undefined ? undefined : pace(job.perSecond);
setTimeout(() => {
  measuring = true;
  const startedAt = performance.now();
  setTimeout(() => {
    process.stdout.write(JSON.stringify(measured(performance.now() - startedAt)));
    clearInterval(pacing);
    for (const socket of sockets) socket.destroy();
  }, job.measureMs);
}, job.warmUpMs);
