import type { JournalWatcher } from "../shared-journal.ts";

export type Row = Readonly<Record<string, unknown>>;

export interface Statement {
  readonly verb: string;
  readonly sql: string;
  readonly values?: readonly unknown[];
  readonly timeoutMs?: number;
  /** It must not wait for others: without it nobody leads, or nothing is decided. */
  readonly urgent?: boolean;
  /**
   * Not cancelled when it is too late. A commit that waits for a standby must go on waiting: cancelled, it is
   * there for readers and not yet safe.
   */
  readonly goesOn?: boolean;
}

/** What the journal needs of PostgreSQL once its schema is there. The simulator has its own. */
export interface Database {
  /** Where it is, without the password. */
  readonly name: string;
  readonly isOpen: boolean;
  /**
   * One statement in a transaction of its own. Throws `ConnectionLost` if nobody knows whether it was
   * executed.
   */
  run(statement: Statement): Promise<Row[]>;
  /** Calls back for each notification of the channel that arrives. */
  watch(channel: string, watcher: JournalWatcher): { readonly isLive: boolean; stop(): void };
  close(): Promise<void>;
}
