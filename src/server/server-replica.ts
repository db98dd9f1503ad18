/** A server as one of several on a journal in PostgreSQL. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import type { BrokerOptions } from "../broker/broker-contract.ts";
import type { Clocks } from "../broker/environment.ts";
import type { Peers } from "../http/relay/peers.ts";
import { RelaySignature } from "../http/relay/relay-signature.ts";
import { RelayedDeliveries } from "../http/relay/relayed-deliveries.ts";
import { makeDataFolder } from "../journal/data-folder.ts";
import { FolderLock } from "../journal/folder-lock.ts";
import { markElsewhere } from "../journal/journal-elsewhere.ts";
import type { PostgresJournal } from "../journal/postgres/postgres.ts";
import type { Standing } from "../journal/shared-journal.ts";
import { Replica } from "../replicas/replica.ts";
import { replicaLimits, SystemReplicaClock } from "../replicas/replica-options.ts";
import type { SharedSecrets } from "./server-vault.ts";

/** How long a server that stops waits for another one to lead, so that it can pass calls on. */
const handOverMsMax = 1_000;

export interface ReplicaStart {
  readonly address: string;
  readonly data: string;
  readonly version: string;
}

export class ServerReplica {
  readonly journal: PostgresJournal;
  readonly peers: Peers;
  readonly #replica: Replica;
  readonly #lock: FolderLock;
  readonly #logger: Logger;
  /** The clock of the database minus the monotonic clock of this process. */
  #offsetMs = 0;

  private constructor(journal: PostgresJournal, lock: FolderLock, logger: Logger, version: string) {
    this.journal = journal;
    this.#lock = lock;
    this.#logger = logger;
    const id = `${hostname()}-${randomBytes(4).toString("hex")}`;
    const clock = new SystemReplicaClock();
    const replica = new Replica(journal, { id, version, clock, limits: replicaLimits });
    this.#replica = replica;
    const signature = new RelaySignature(journal.secret, () => this.#databaseMs());
    this.peers = {
      ...{ id, signature, deliveries: new RelayedDeliveries() },
      get isLeading() {
        return replica.isLeading;
      },
      get standing() {
        return replica.standing;
      },
      get isNotified() {
        return replica.isNotified;
      },
      get isReachable() {
        return replica.isReachable;
      },
      get staleMs() {
        return replica.staleMs;
      },
      replicas: () => replica.replicas(),
      onChange: (changed) => replica.onChange(changed),
    };
  }

  /** Throws as `PostgresJournal.open` and `FolderLock.take` do. */
  static async open(start: ReplicaStart, logger: Logger): Promise<ServerReplica> {
    // Loaded here, because most servers have their journal in a file.
    const { PostgresJournal } = await import("../journal/postgres/postgres.ts");
    makeDataFolder(start.data);
    const lock = FolderLock.take(start.data);
    let journal: PostgresJournal | undefined;
    try {
      journal = await PostgresJournal.open(start.address);
      markElsewhere(start.data, journal.name);
      const replica = new ServerReplica(journal, lock, logger, start.version);
      const sentAtMs = performance.now();
      replica.#setClock(await journal.look(), sentAtMs);
      return replica;
    } catch (error) {
      await journal?.close();
      lock.release();
      throw error;
    }
  }

  /** All replicas use the time of the database, so that their own clocks need not agree. */
  get clocks(): Clocks {
    return { wall: () => Math.round(this.#databaseMs()), monotonic: () => performance.now() };
  }

  get brokerOptions(): Partial<BrokerOptions> {
    const { mayDecide, freshen } = this.#replica;
    return { startAs: "standby", onConflict: () => "step-down", mayDecide, freshen };
  }

  get secrets(): SharedSecrets {
    return { rows: this.journal.sealedRows, isLeading: () => this.#replica.isLeading };
  }

  /** Whether this server can serve calls: it leads, or knows who does. */
  get isReady(): boolean {
    const { isLeading, standing, staleMs } = this.#replica;
    if (isLeading) return true;
    return standing?.leader?.address != null && staleMs < replicaLimits.staleMsMax;
  }

  /** `address`: where other replicas reach this one. */
  start(broker: Broker, address: string, leads: (isLeading: boolean) => void): void {
    const { id } = this.#replica;
    this.#logger.info({ replica: id, address }, "this server is a replica");
    this.#replica.start(broker, address, {
      leads: (isLeading) => {
        const epoch = this.#replica.standing?.epoch;
        this.#logger.info({ replica: id, epoch }, isLeading ? "leads" : "leads no longer");
        leads(isLeading);
      },
      reachable: (cause) => {
        if (cause === null) this.#logger.info("the journal can be reached again");
        else this.#logger.error({ err: cause }, "the journal cannot be reached");
      },
      looked: (standing, sentAtMs) => this.#setClock(standing, sentAtMs),
    });
  }

  /** Hands the lead over. Resolves once another server leads, or after a moment. */
  async handOver(): Promise<void> {
    const wasLeading = this.#replica.isLeading;
    await this.#replica.stop();
    if (!wasLeading) return;
    const late = setTimeout(handOverMsMax, true, { ref: false });
    while (this.#replica.standing?.leader == null) {
      if (await Promise.race([this.#replica.lookAgain(), late])) return;
    }
  }

  async close(): Promise<void> {
    await this.journal.close();
    this.#lock.release();
  }

  #databaseMs(): number {
    return performance.now() + this.#offsetMs;
  }

  /** The answer was made in the middle of the time that it took. */
  #setClock(standing: Standing, sentAtMs: number): void {
    this.#offsetMs = standing.nowMs - (sentAtMs + performance.now()) / 2;
  }
}
