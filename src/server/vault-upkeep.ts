/**
 * Erases secrets that nobody needs any more: the access to clusters that are used up or gone, and
 * deleted credentials of spaces once the last cluster that was made with them is destroyed. It
 * compares the vault with the state, so that what a crash has left is erased after the next start.
 */
import { clustersOf } from "../core/explain/cluster-view.ts";
import { credentialsParameter, isDoomed, type Parameters } from "../core/model/cluster.ts";
import type { BrokerEvent } from "../core/model/event.ts";
import { destroyingState, tombstoneState } from "../core/model/lifecycle.ts";
import type { State } from "../core/model/state.ts";
import type { Recorded } from "../journal/journal.ts";
import type { SecretStores } from "../vault/secret-stores.ts";

/** The part of the broker that this uses. */
export interface Watched {
  read<Result>(look: (state: State) => Result): Promise<Result>;
  listen(listener: { committed(recorded: Recorded): void }): () => void;
}

export interface UpkeepOptions {
  /** Many clusters end together: one look is enough for all of them. */
  readonly delayMs: number;
  /** Deleted credentials have a grace, and an outage of the vault passes. */
  readonly everyMs: number;
  readonly now: () => number;
  readonly failed: (cause: unknown) => void;
  /** False while another server leads: it does this, and this server's state may be old. */
  readonly isMine: () => boolean;
}

const defaults: UpkeepOptions = {
  delayMs: 500,
  everyMs: 60_000,
  now: Date.now,
  failed: () => {},
  isMine: () => true,
};

export class VaultUpkeep {
  readonly #stores: SecretStores;
  readonly #broker: Watched;
  readonly #options: UpkeepOptions;
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #closed = false;
  #failing = false;

  constructor(stores: SecretStores, broker: Watched, options: Partial<UpkeepOptions> = {}) {
    this.#stores = stores;
    this.#broker = broker;
    this.#options = { ...defaults, ...options };
    this.#stopListening = broker.listen({
      committed: ({ events }) => {
        if (events.some(endsACluster)) this.#soon(this.#options.delayMs);
      },
    });
    this.#soon(0);
  }

  /** Looks once, now. */
  async run(): Promise<void> {
    this.#running = this.#running.then(() => this.#look());
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** A look that is due earlier stays: events that never pause must not postpone it. */
  #soon(delayMs: number): void {
    const dueAtMs = performance.now() + delayMs;
    if (this.#closed || dueAtMs >= this.#dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#dueAtMs = Number.POSITIVE_INFINITY;
      void this.run().then(() => this.#soon(this.#options.everyMs));
    }, delayMs).unref();
  }

  async #look(): Promise<void> {
    const { access, credentials } = this.#stores;
    try {
      if (!this.#options.isMine()) return;
      await access.keepOnly(() => this.#broker.read(instancesInUse));
      if (await credentials.hasDeleted()) {
        await credentials.keepUsed(await this.#broker.read(referencesInUse), this.#options.now());
      }
      this.#failing = false;
    } catch (cause) {
      if (!this.#failing) this.#options.failed(cause);
      this.#failing = true;
    }
  }
}

const ends: ReadonlySet<BrokerEvent["type"]> = new Set<BrokerEvent["type"]>([
  "cluster-moved",
  "cluster-abandoned",
  "lease-ended",
  "claim-ended",
  "resource-removed",
]);

function endsACluster({ type }: BrokerEvent): boolean {
  return ends.has(type);
}

/** The clusters whose access somebody may still read. */
function instancesInUse(state: State): Set<string> {
  const instances = new Set<string>();
  for (const { cluster, state: now } of clustersOf(state)) {
    const isOver = now === destroyingState || now === tombstoneState || isDoomed(now);
    if (!isOver) instances.add(cluster.instance);
  }
  return instances;
}

/** The credentials that clusters were made with, or will be. */
function referencesInUse(state: State): Set<string> {
  const references = new Set<string>();
  const refer = (parameters: Parameters | undefined) => {
    const reference = parameters?.[credentialsParameter];
    if (reference !== undefined) references.add(String(reference));
  };
  for (const { cluster } of clustersOf(state)) refer(cluster.parameters);
  for (const { ask } of [...state.requests.values(), ...state.leases.values()]) {
    for (const item of ask.items) refer(item.parameters);
  }
  return references;
}
