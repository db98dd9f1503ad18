/**
 * Notices when a Secret of Kubernetes changes that a template refers to, as a change of a file is
 * noticed. What was read first counts as unchanged: a Secret may be made after the configuration, and
 * clusters that were made meanwhile have it. The first hash is kept, so that servers agree about it.
 */
import { hash } from "node:crypto";
import type { WatchedSecrets } from "../../config/load.ts";
import type { SecretSource } from "../../config/template-spec.ts";
import { secretValue } from "./credentials.ts";

export interface HashStore {
  load(name: string): Promise<string | undefined>;
  save(name: string, text: string): Promise<void>;
}

interface Seen {
  readonly first: string;
  readonly now: string;
}

interface Watched {
  seen: Seen | undefined;
  readAtMs: number;
  reading: Promise<void> | undefined;
}

export interface SecretHashOptions {
  readonly read?: (source: SecretSource, signal: AbortSignal) => Promise<string>;
  readonly now?: () => number;
  /** The store failed. Until it works, a change is remembered only by this process. */
  readonly failed?: (cause: unknown) => void;
}

const everyMs = 10_000;
const answerMs = 10_000;

export class SecretHashes implements WatchedSecrets {
  readonly #store: HashStore;
  readonly #read: NonNullable<SecretHashOptions["read"]>;
  readonly #now: () => number;
  readonly #failed: (cause: unknown) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(
    store: HashStore,
    { read = secretValue, now = Date.now, failed = () => {} }: SecretHashOptions = {},
  ) {
    this.#store = store;
    this.#read = read;
    this.#now = now;
    this.#failed = failed;
  }

  hashOf(source: SecretSource): string {
    const seen = this.#watched.get(nameOf(source))?.seen;
    return seen === undefined || seen.now === seen.first ? "" : seen.now;
  }

  async refresh(sources: readonly SecretSource[]): Promise<void> {
    await Promise.all(sources.map((source) => this.#refreshOne(source)));
  }

  #refreshOne(source: SecretSource): Promise<void> {
    const name = nameOf(source);
    const known = this.#watched.get(name);
    const watched = known ?? { seen: undefined, readAtMs: 0, reading: undefined };
    if (known === undefined) this.#watched.set(name, watched);
    if (watched.reading !== undefined) return watched.reading;
    if (known !== undefined && Math.abs(this.#now() - known.readAtMs) < everyMs) {
      return Promise.resolve();
    }
    watched.readAtMs = this.#now();
    watched.reading = this.#look(name, source, watched).finally(() => {
      watched.reading = undefined;
    });
    return watched.reading;
  }

  /** A Secret that is gone or cannot be read counts as unchanged: it may come back as it was. */
  async #look(name: string, source: SecretSource, watched: Watched): Promise<void> {
    watched.seen ??= await this.#stored(name);
    const value = await this.#read(source, AbortSignal.timeout(answerMs)).catch(() => undefined);
    if (value === undefined) return;
    const now = hash("sha256", value, "hex");
    if (watched.seen?.now === now) return;
    watched.seen = { first: watched.seen?.first ?? now, now };
    await this.#store.save(name, JSON.stringify(watched.seen)).catch(this.#failed);
  }

  async #stored(name: string): Promise<Seen | undefined> {
    try {
      const text = await this.#store.load(name);
      return text === undefined ? undefined : (JSON.parse(text) as Seen);
    } catch (cause) {
      this.#failed(cause);
      return undefined;
    }
  }
}

function nameOf({ namespace, name, key, kubeconfig }: SecretSource): string {
  return JSON.stringify([kubeconfig ?? null, namespace, name, key]);
}
