/** One of several servers: a server of the simulation, the real `Replica`, and the real journal. */
import type { Broker } from "../../src/broker/broker.ts";
import { journalFormat } from "../../src/journal/format.ts";
import { PostgresJournal } from "../../src/journal/postgres/postgres.ts";
import { Replica } from "../../src/replicas/replica.ts";
import {
  type ReplicaClock,
  type ReplicaLimits,
  replicaLimits,
} from "../../src/replicas/replica-options.ts";
import type { OpenStorage, Process, Storage } from "../server.ts";
import { type DatabaseNetwork, SimulatedConnection } from "./connection.ts";
import { simulatedSchema } from "./database.ts";

export interface MemberBugs {
  /** The leader believes that it leads for longer than the database does. */
  readonly stepDownLate?: boolean;
  /** Followers answer from memory without a look at the journal. */
  readonly readStale?: boolean;
}

/** Everything five times as slow as in production, so that there are fewer steps. */
const slowness = 5;
/** A leader with the bug goes on for this long after its lease. */
const tooLateMs = 30_000;
/** The clocks of two machines drift apart by at most this part. */
const driftMax = 0.01;

function limitsWith({ stepDownLate = false }: MemberBugs): ReplicaLimits {
  const slow = Object.entries(replicaLimits).map(([name, value]) => [name, value * slowness]);
  const limits = Object.fromEntries(slow) as unknown as ReplicaLimits;
  return stepDownLate ? { ...limits, marginMs: -tooLateMs } : limits;
}

export class Member implements Storage {
  readonly name: string;
  readonly #network: DatabaseNetwork;
  readonly #bugs: MemberBugs;
  readonly #leads: (member: Member, broker: Broker) => void;
  connection: SimulatedConnection | undefined;
  replica: Replica | undefined;
  /** The broker of the process that runs. */
  broker: Broker | undefined;

  constructor(
    name: string,
    network: DatabaseNetwork,
    bugs: MemberBugs,
    leads: (member: Member, broker: Broker) => void,
  ) {
    this.name = name;
    this.#network = network;
    this.#bugs = bugs;
    this.#leads = leads;
  }

  get answers(): number {
    return this.#network.disk.answers;
  }

  get isLeading(): boolean {
    return this.replica?.isLeading ?? false;
  }

  /** The name of the member that leads, as far as this one knows. */
  get leader(): string | undefined {
    return this.replica?.standing?.leader?.address ?? undefined;
  }

  async open(process: Process): Promise<OpenStorage> {
    const database = new SimulatedConnection(this.#network, process);
    const journal = await PostgresJournal.openIn({
      ...{ database, schema: simulatedSchema, secret: "simulated", format: journalFormat },
    });
    const { random } = this.#network;
    const clock = this.#clock(process, 1 + driftMax * (random.next() - 0.5));
    const id = `${this.name}-${random.between(1, 1_000_000)}`;
    const limits = limitsWith(this.#bugs);
    const replica = new Replica(journal, { id, version: "simulated", clock, limits });
    const { mayDecide, freshen } = replica;
    const stale = this.#bugs.readStale === true ? { freshen: () => undefined } : undefined;
    return {
      journal,
      options: {
        ...{ startAs: "standby", onConflict: () => "step-down", mayDecide, freshen },
        ...stale,
      },
      started: (broker) => {
        this.connection = database;
        this.replica = replica;
        this.broker = broker;
        const leads = (isLeading: boolean) => isLeading && this.#leads(this, broker);
        replica.start(broker, this.name, { leads });
      },
    };
  }

  crash(): void {
    this.connection = undefined;
    this.replica = undefined;
    this.broker = undefined;
  }

  #clock(process: Process, rate: number): ReplicaClock {
    const { world, random } = this.#network;
    return {
      nowMs: () => world.nowMs * rate,
      after: (delayMs, run) => world.after(Math.ceil(delayMs / rate), process.guard(run)),
      random: () => random.next(),
    };
  }
}
