/** A journal in PostgreSQL, as the source or the target of a copy. */
import type { Recorded } from "../../journal/journal.ts";
import { PostgresCopy } from "../../journal/postgres/copy.ts";
import { PostgresJournal } from "../../journal/postgres/postgres.ts";
import type { JournalSource, JournalTarget } from "./journal-copy.ts";
import { upTo } from "./sqlite-place.ts";

/** Reads while servers may write: the journal is taken as it is now. */
export async function postgresSource(address: string): Promise<JournalSource> {
  const journal = await PostgresJournal.open(address);
  const copy = await PostgresCopy.open(address);
  const { head } = journal;
  return {
    name: journal.name,
    secret: journal.secret,
    firstSeq: (await copy.range()).first,
    head,
    snapshot: await journal.loadSnapshot(),
    format: journal.format,
    // After the head was read: a secret that belongs to an event before it is there, or was erased.
    sealed: await journal.sealedRows.all(),
    commits: (seq) => upTo(head, journal.read(seq)),
    close: async () => {
      await journal.close();
      await copy.close();
    },
  };
}

export class PostgresTarget implements JournalTarget {
  readonly #address: string;
  readonly #copy: PostgresCopy;

  private constructor(address: string, copy: PostgresCopy) {
    this.#address = address;
    this.#copy = copy;
  }

  static async make(address: string): Promise<PostgresTarget> {
    return new PostgresTarget(address, await PostgresCopy.open(address));
  }

  get name(): string {
    return this.#copy.name;
  }

  found(): Promise<{ secret: string; head: number } | undefined> {
    return this.#copy.found();
  }

  begin({ secret, firstSeq }: JournalSource): Promise<void> {
    return this.#copy.begin(secret, firstSeq);
  }

  append(commits: readonly Recorded[]): Promise<void> {
    return this.#copy.append(commits);
  }

  finish(source: JournalSource): Promise<void> {
    return this.#copy.finish(source);
  }

  open(): Promise<JournalSource> {
    return postgresSource(this.#address);
  }

  close(): Promise<void> {
    return this.#copy.close();
  }
}
