import { setTimeout } from "node:timers/promises";
import type { Client } from "pg";
import type { JournalWatcher } from "../shared-journal.ts";
import type { Database } from "./database.ts";

/** After a lost connection it tries again after this time. */
const retryMs = 1_000;
/** A connection that a firewall has dropped is noticed within this time. */
const testEveryMs = 5_000;
const testMsMax = 2_000;

export interface ListenerConnections extends Pick<Database, "run"> {
  /** A connection of its own. The listener connects and ends it. */
  client(): Client;
}

/**
 * A connection that waits for notifications. It needs a session of its own: behind a pooler that
 * shares sessions it hears nothing. So it sends a notification to itself from time to time, and is
 * live only if that arrives.
 */
export class Listener {
  readonly #connections: ListenerConnections;
  readonly #channel: string;
  readonly #watcher: JournalWatcher;
  readonly #stopped = new AbortController();
  readonly #mark = `test ${process.pid} ${Math.random()}`;
  #heard = () => {};
  #client: Client | undefined;
  #isLive = false;

  constructor(connections: ListenerConnections, channel: string, watcher: JournalWatcher) {
    this.#connections = connections;
    this.#channel = channel;
    this.#watcher = watcher;
    void this.#run();
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  stop(): void {
    this.#stopped.abort();
    this.#heard();
    void this.#client?.end().catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#listen().catch(() => {}); // Polling goes on meanwhile.
      this.#isLive = false;
      await setTimeout(retryMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #listen(): Promise<void> {
    const client = this.#connections.client();
    this.#client = client;
    const lost = new Promise<void>((resolve) => client.once("end", resolve));
    client.on("error", () => {});
    client.on("notification", ({ payload }) => {
      if (payload === this.#mark) this.#heard();
      else if (payload === undefined || payload === "") this.#watcher.leaderChanged();
      else if (!payload.startsWith("test ")) this.#watcher.committed();
    });
    try {
      await client.connect();
      await client.query(`LISTEN "${this.#channel}"`);
      while (!this.#stopped.signal.aborted) {
        this.#isLive = await this.#test();
        if (!this.#isLive) return;
        const { signal } = this.#stopped;
        const pause = setTimeout(testEveryMs, "pause", { signal, ref: false });
        const next = await Promise.race([lost, pause.catch(() => undefined)]);
        if (next !== "pause") return;
      }
    } finally {
      client.end().catch(() => {});
    }
  }

  /** Sent on another connection, as those of a commit are. */
  async #test(): Promise<boolean> {
    const heard = new Promise<boolean>((resolve) => {
      this.#heard = () => resolve(true);
    });
    const values = [this.#channel, this.#mark];
    await this.#connections.run({ verb: "watch", sql: "SELECT pg_notify($1, $2)", values });
    const late = setTimeout(testMsMax, false, { signal: this.#stopped.signal, ref: false });
    return Promise.race([heard, late.catch(() => false)]);
  }
}
