/**
 * Creates load on two servers in turns of a fraction of a second, from one process and over connections
 * that stay open. What slows the machine for longer than a turn slows both sides, so the ratio of two turns
 * that follow each other means more than that of two long ones.
 *
 * Started with the job as JSON in its first argument; prints the result as JSON.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dialogues } from "./dialogues.ts";

export interface Side {
  readonly port: number;
  /** The process of the server. */
  readonly pid: number;
  readonly tokens?: readonly string[];
}

export interface SlicesJob {
  readonly sides: readonly [Side, Side];
  readonly pool: string;
  readonly connections: number;
  readonly turnMs: number;
  /** Turns of each side, without those of the warm-up. */
  readonly turns: number;
  readonly warmUpTurns: number;
}

export interface Slice {
  readonly perSecond: number;
  /** Processor time of the server's main thread per request. */
  readonly workUs: number;
}

export interface SlicesResult {
  readonly pairs: readonly (readonly [Slice, Slice])[];
  readonly failures: number;
}

const job = JSON.parse(process.argv[2] ?? "{}") as SlicesJob;
let failures = 0;

/** The connections to one server. Between its turns each waits with what it sends next. */
class Load {
  readonly #pid: number;
  readonly #sockets: Socket[];
  #waiting: (() => void)[] = [];
  #isOn = false;
  #replies = 0;
  #allWait = () => {};

  constructor({ port, pid, tokens }: Side) {
    this.#pid = pid;
    this.#sockets = Array.from({ length: job.connections }, (_, index) => {
      return this.#open(port, index, tokens);
    });
  }

  async turn(): Promise<Slice> {
    await this.#untilAllWait();
    const usedBefore = this.#usedUs();
    const startedAt = performance.now();
    this.#replies = 0;
    this.#isOn = true;
    for (const send of this.#waiting.splice(0)) send();
    await new Promise((resolve) => setTimeout(resolve, job.turnMs));
    this.#isOn = false;
    await this.#untilAllWait();
    const seconds = (performance.now() - startedAt) / 1_000;
    const workUs = (this.#usedUs() - usedBefore) / this.#replies;
    return { perSecond: this.#replies / seconds, workUs };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(port: number, index: number, tokens: readonly string[] | undefined): Socket {
    const dialogue = dialogues.berth(job.pool, index, tokens);
    const answered = (size: number, buffer: Uint8Array): boolean => {
      this.#replies += 1;
      const next = dialogue.next((buffer as Buffer).subarray(0, size));
      if (next === undefined) failures += 1;
      this.#next(() => socket.write(next ?? dialogue.first, "latin1"));
      return true;
    };
    const onread = { buffer: Buffer.alloc(16 * 1024), callback: answered };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, onread });
    socket.on("connect", () => this.#next(() => socket.write(dialogue.first, "latin1")));
    return socket;
  }

  #next(send: () => void): void {
    if (this.#isOn) return send();
    this.#waiting.push(send);
    if (this.#waiting.length === job.connections) this.#allWait();
  }

  async #untilAllWait(): Promise<void> {
    if (this.#waiting.length === job.connections) return;
    await new Promise<void>((resolve) => {
      this.#allWait = resolve;
    });
  }

  /** Linux counts it in nanoseconds; elsewhere it is 0. */
  #usedUs(): number {
    try {
      return Number(readFileSync(`/proc/${this.#pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
    } catch {
      return 0;
    }
  }
}

const [base, measured] = [new Load(job.sides[0]), new Load(job.sides[1])];
const pairs: [Slice, Slice][] = [];
for (let turn = -job.warmUpTurns; turn < job.turns; turn++) {
  // A machine that has just worked is slower, so the sides also take turns at being first.
  const isBaseFirst = turn % 2 === 0;
  const first = await (isBaseFirst ? base : measured).turn();
  const second = await (isBaseFirst ? measured : base).turn();
  if (turn >= 0) pairs.push(isBaseFirst ? [first, second] : [second, first]);
}
const result: SlicesResult = { pairs, failures };
process.stdout.write(JSON.stringify(result));
for (const load of [base, measured]) load.close();
