/**
 * The connection of one replica to the database: slow, cut, or silent. Statements and answers get lost
 * and come late, after the replica has given up waiting.
 */
import type { Random } from "../../src/insight/forecast/random.ts";
import { JournalUnavailable } from "../../src/journal/journal.ts";
import type { Database, Row, Statement } from "../../src/journal/postgres/database.ts";
import { ConnectionLost } from "../../src/journal/postgres/failure.ts";
import type { JournalWatcher } from "../../src/journal/shared-journal.ts";
import type { Disk } from "../disk.ts";
import type { Process } from "../server.ts";
import type { World } from "../world.ts";
import { isWrite, type SimulatedDatabase } from "./database.ts";

const answerMsMax = 10_000;
const delayMsMax = 3;
/** Longer than a lease: then another replica leads when the statement arrives. */
const slowMsMax = 15_000;

/** The network to the database, for all replicas. */
export interface DatabaseNetwork {
  readonly world: World;
  readonly random: Random;
  readonly disk: Disk;
  readonly database: SimulatedDatabase;
  bad: boolean;
}

export class SimulatedConnection implements Database {
  readonly name = "simulated";
  readonly isOpen = true;
  readonly #network: DatabaseNetwork;
  readonly #process: Process;
  /** Cut: the replica notices at once. Silent: it waits for an answer in vain. */
  mode: "open" | "cut" | "silent" = "open";
  /** How many statements had no answer, or an error. */
  failures = 0;
  #watcher: JournalWatcher | undefined;

  constructor(network: DatabaseNetwork, process: Process) {
    this.#network = network;
    this.#process = process;
  }

  run({ sql, values = [], timeoutMs = answerMsMax }: Statement): Promise<Row[]> {
    const { world } = this.#network;
    return new Promise((resolve, reject) => {
      const end = this.#process.guard(resolve as (rows?: Row[]) => void);
      const fail = (cause: Error): void => {
        this.failures += 1;
        this.#process.guard(reject as (cause?: Error) => void)(cause);
      };
      world.after(timeoutMs, () => fail(new ConnectionLost("Cannot reach it: no answer")));
      const lost = () => fail(new ConnectionLost("Cannot reach it: the connection was lost"));
      if (this.mode === "cut") return void world.after(1, lost);
      if (this.#isLost()) return this.#noticeSometimes(lost);
      world.after(this.#delayMs(), () => this.#arrive(sql, values, { end, fail, lost }));
    });
  }

  #arrive(sql: string, values: readonly unknown[], answer: Answer): void {
    const { world, random, disk } = this.#network;
    if (disk.unreadable) return void world.after(1, answer.lost);
    if (!isWrite(sql)) return this.#execute(sql, values, answer);
    if (disk.full) return answer.fail(new JournalUnavailable("Cannot write: the disk is full"));
    world.after(random.between(0, disk.syncMsMax), () => {
      const isFailing = disk.flaky && random.chance(0.5);
      if (isFailing && random.chance(0.5)) return answer.lost();
      if (isFailing) this.#execute(sql, values, { ...answer, end: answer.lost });
      else this.#execute(sql, values, answer);
    });
  }

  #execute(sql: string, values: readonly unknown[], { end, lost }: Answer): void {
    const { world, disk, database } = this.#network;
    const rows = database.execute(sql, values);
    disk.answers += 1;
    if (this.mode === "cut") return lost();
    if (this.#isLost()) return this.#noticeSometimes(lost);
    world.after(this.#delayMs(), () => end(rows));
  }

  #isLost(): boolean {
    const { bad, random } = this.#network;
    return this.mode === "silent" || (bad && random.chance(0.005));
  }

  #noticeSometimes(lost: () => void): void {
    if (this.mode !== "silent" && this.#network.random.chance(0.5)) lost();
  }

  #delayMs(): number {
    const { bad, random } = this.#network;
    return random.between(0, bad && random.chance(0.01) ? slowMsMax : delayMsMax);
  }

  watch(_channel: string, watcher: JournalWatcher): { readonly isLive: boolean; stop(): void } {
    this.#watcher = watcher;
    const connection = this;
    return {
      get isLive() {
        return connection.mode === "open";
      },
      stop: () => {
        this.#watcher = undefined;
      },
    };
  }

  /** A notification of the database, which may get lost. */
  notify(payload: string): void {
    if (this.mode !== "open" || this.#isLost()) return;
    const tell = this.#process.guard(() => {
      if (payload === "") this.#watcher?.leaderChanged();
      else this.#watcher?.committed();
    });
    this.#network.world.after(this.#delayMs(), tell);
  }

  async close(): Promise<void> {}
}

interface Answer {
  readonly end: (rows?: Row[]) => void;
  readonly fail: (cause: Error) => void;
  readonly lost: () => void;
}
