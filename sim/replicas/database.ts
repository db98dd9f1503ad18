/**
 * What PostgreSQL keeps of a journal, and what each statement of the journal does to it. Statements are
 * executed one after the other, as the lock on the row `head` makes them.
 */
import type { Instant } from "../../src/core/model/time.ts";
import type { CheckedCommit } from "../../src/journal/checksum.ts";
import type { Row } from "../../src/journal/postgres/database.ts";
import { type Statements, statementsFor } from "../../src/journal/postgres/statements.ts";
import type { Disk } from "../disk.ts";
import { assertInvariant } from "../violation.ts";

/** Bugs of the statements, planted to see whether the simulator finds them. */
export interface DatabaseBugs {
  /** Appends do not check the epoch. */
  readonly ignoreEpoch?: boolean;
}

export const simulatedSchema = "berth";

type Name = keyof Statements;

const nameOf = new Map(
  Object.entries(statementsFor(simulatedSchema)).map(([name, sql]) => [sql, name as Name]),
);
const writes = new Set<Name>([
  ...(["append", "probe", "saveSnapshot", "prune", "claim", "renew", "resign", "fence"] as const),
  ...(["report", "forget"] as const),
]);

/** Whether the statement waits until it is durable. */
export function isWrite(sql: string): boolean {
  return writes.has(nameOf.get(sql) as Name);
}

interface Head {
  epoch: number;
  checksum: number;
  leader: string | null;
  address: string | null;
  sinceMs: number | null;
  expiresAtMs: number;
}

type Commit = CheckedCommit & { readonly epoch: number };

export class SimulatedDatabase {
  readonly #disk: Disk;
  readonly #nowMs: () => number;
  readonly #bugs: DatabaseBugs;
  readonly #commits: Commit[] = [];
  readonly #head: Head = {
    ...{ epoch: 0, checksum: 0, leader: null, address: null, sinceMs: null },
    expiresAtMs: Number.NEGATIVE_INFINITY,
  };
  #snapshot: Row | undefined;
  /** Called when a statement has sent a notification. */
  notify: (payload: string) => void = () => {};
  /** Called at the moment at which a commit is durable. */
  committed: (seq: number, at: Instant, text: string) => void = () => {};

  constructor(disk: Disk, nowMs: () => number, bugs: DatabaseBugs) {
    this.#disk = disk;
    this.#nowMs = nowMs;
    this.#bugs = bugs;
  }

  get head(): number {
    return this.#disk.head;
  }

  execute(sql: string, values: readonly unknown[]): Row[] {
    const [first, second, third] = values;
    switch (nameOf.get(sql)) {
      case "append":
        return this.#append(values);
      case "probe":
        return this.#isEnd(Number(first), Number(second)) ? [{ bytes: 0 }] : [];
      case "written":
        return this.#commits.some(
          ({ seq, checksum, epoch }) => seq === first && checksum === second && epoch === third,
        )
          ? [{ bytes: 0 }]
          : [];
      case "fence":
        if (this.#head.epoch !== first) return [];
        this.#head.epoch += 1;
        return [this.#standing()];
      case "head":
      case "look":
        return [this.#standing()];
      case "lastCommit": {
        const last = this.#commits.at(-1) ?? { seq: null };
        const { checksum } = this.#head;
        const head = { head: this.head, head_checksum: checksum, bytes: 0, snapshot_bytes: 0 };
        return [{ ...last, ...head }];
      }
      case "page":
        return this.#page(Number(first));
      case "commitWith":
        return this.#commits
          .filter(({ seq, count }) => seq <= Number(first) && seq + count > Number(first))
          .map(({ seq }) => ({ seq }));
      case "nextCommit":
        return [{ seq: this.#commits.find(({ seq }) => seq > Number(first))?.seq ?? null }];
      case "saveSnapshot":
        return this.#saveSnapshot(values);
      case "loadSnapshot":
        return this.#snapshot === undefined ? [] : [this.#snapshot];
      case "prune":
        return [this.#prune()];
      case "claim":
        return this.#claim(String(first), String(second), Number(third));
      case "renew":
        if (this.#head.epoch !== first) return [];
        this.#head.expiresAtMs = this.#nowMs() + Number(second);
        return [this.#standing()];
      case "resign":
        return this.#resign(Number(first));
      case "report":
      case "forget":
      case "replicas":
      case "raiseFormat":
        return [];
      default:
        throw new Error(`Cannot simulate the statement: ${sql}`);
    }
  }

  #isEnd(seq: number, epoch: number): boolean {
    return seq === this.head && (epoch === this.#head.epoch || this.#bugs.ignoreEpoch === true);
  }

  #append(values: readonly unknown[]): Row[] {
    const [seq, at, count, events, previous, checksum, epoch, , leaseMs] = values;
    const commit = { seq, at, count, events, previous, checksum, epoch } as Commit;
    if (!this.#isEnd(commit.seq - 1, commit.epoch)) return [];
    assertInvariant(
      commit.epoch === this.#head.epoch,
      () => `a server wrote in epoch ${commit.epoch}, but epoch ${this.#head.epoch} has begun`,
    );
    this.#commits.push(commit);
    this.#head.checksum = Number(checksum);
    this.#head.expiresAtMs = this.#nowMs() + Number(leaseMs);
    this.#disk.commits.push({ seq: commit.seq, at: commit.at, text: commit.events });
    this.#disk.head = commit.seq + commit.count - 1;
    this.committed(commit.seq, commit.at, commit.events);
    this.notify(String(seq));
    return [{ bytes: 0 }];
  }

  #page(from: number): Row[] {
    const { head } = this;
    // Binary search is not worth it: readers are near the end.
    const first = this.#commits.findLastIndex(({ seq }) => seq < from) + 1;
    const rows = this.#commits.slice(first, first + 512);
    return rows.length === 0 ? [{ seq: null, head }] : rows.map((commit) => ({ ...commit, head }));
  }

  #saveSnapshot([seq, at, state, checksum]: readonly unknown[]): Row[] {
    if (Number(seq) > this.head || Number(seq) < Number(this.#snapshot?.["seq"] ?? 0)) return [];
    this.#snapshot = { seq, at, state, checksum };
    return [{ seq }];
  }

  /** Whatever a snapshot covers, so that replicas that were away find that events are missing. */
  #prune(): Row {
    const covered = Number(this.#snapshot?.["seq"] ?? 0);
    const kept = this.#commits.findIndex(({ seq, count }) => seq + count - 1 > covered);
    const pruned = kept < 0 ? Math.max(0, this.#commits.length - 1) : kept;
    this.#commits.splice(0, pruned);
    return { bytes: 0, pruned: 0 };
  }

  #claim(replica: string, address: string, leaseMs: number): Row[] {
    const head = this.#head;
    const nowMs = this.#nowMs();
    if (head.expiresAtMs > nowMs) return [];
    head.epoch += 1;
    head.leader = replica;
    head.address = address;
    head.sinceMs = nowMs;
    head.expiresAtMs = nowMs + leaseMs;
    this.notify("");
    return [this.#standing()];
  }

  #resign(epoch: number): Row[] {
    const head = this.#head;
    if (epoch !== head.epoch) return [];
    head.epoch += 1;
    head.leader = null;
    head.address = null;
    head.sinceMs = null;
    head.expiresAtMs = Number.NEGATIVE_INFINITY;
    this.notify("");
    return [{}];
  }

  #standing(): Row {
    const { checksum, epoch, leader, address, sinceMs, expiresAtMs } = this.#head;
    const nowMs = this.#nowMs();
    const remainingMs = Number.isFinite(expiresAtMs) ? expiresAtMs - nowMs : 0;
    const times = { since_ms: sinceMs, remaining_ms: remainingMs, now_ms: nowMs };
    return { seq: this.head, checksum, bytes: 0, epoch, leader, address, ...times };
  }
}
