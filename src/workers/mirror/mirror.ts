/**
 * Mirrors leases as Kubernetes Leases, so that `kubectl get leases` shows the holders. The mirror
 * only reads from the broker: it never delays or prevents a grant.
 */
import type { Broker } from "../../broker/broker.ts";
import { pause } from "../../client/pause.ts";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import { same } from "../../core/model/policy.ts";
import { isConflict, isNotFound } from "../../kubernetes/errors.ts";
import type { LeaseObject } from "../../kubernetes/kube-objects.ts";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import { isOurs, storeFor } from "./lease-object.ts";
import { mirrorLimits } from "./limits.ts";
import { type MirrorFigures, type MirrorListener, MirrorRun } from "./mirror-run.ts";

export interface MirrorReports extends MirrorListener {
  /** The objects of this mirror were removed, or (with a cause) could not be removed. */
  cleared?(spec: MirrorSpec, cause?: Error): void;
}

export class Mirror {
  readonly #broker: Broker;
  readonly #listener: MirrorReports;
  #spec: MirrorSpec | undefined;
  #run: MirrorRun | undefined;
  readonly #figures: MirrorFigures = {
    up: false,
    behind: 0,
    failures: 0,
    written: { created: 0, updated: 0, deleted: 0 },
  };
  /**
   * Changes run one after the other: the objects of the old mirror must be gone before the new one
   * starts.
   */
  #changing: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();

  constructor(broker: Broker, listener: MirrorReports = {}) {
    this.#broker = broker;
    this.#listener = listener;
  }

  /** Undefined while no mirror is configured. */
  get figures(): Readonly<MirrorFigures> | undefined {
    return this.#spec && this.#figures;
  }

  /**
   * Starts, changes or (undefined) stops the mirror. Objects in a place that is no longer
   * configured are removed.
   */
  configure(spec: MirrorSpec | undefined): void {
    const old = this.#spec;
    if (same(old, spec)) return;
    this.#spec = spec;
    this.#changing = this.#changing.then(() => this.#change(old, spec));
  }

  /** Leaves the objects, because the leases still exist. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#changing;
    await this.#run?.stop();
  }

  async #change(old: MirrorSpec | undefined, spec: MirrorSpec | undefined): Promise<void> {
    await this.#run?.stop();
    this.#run = undefined;
    this.#figures.up = false;
    this.#figures.behind = 0;
    if (this.#stop.signal.aborted) return;
    if (old !== undefined && !isSamePlace(old, spec)) await this.#clear(old);
    if (spec !== undefined && !this.#stop.signal.aborted) {
      this.#run = new MirrorRun(this.#broker, spec, this.#figures, this.#listener);
    }
  }

  /** Runs only once. Objects that cannot be removed now stay. */
  async #clear(spec: MirrorSpec): Promise<void> {
    const { signal } = this.#stop;
    try {
      const store = await storeFor(spec);
      const { items } = await store.list({ signal });
      for (const object of items) {
        if (await removed(store, spec, object, signal)) this.#figures.written.deleted += 1;
        await pause(mirrorLimits.writeGapMs, signal);
      }
      this.#listener.cleared?.(spec);
    } catch (error) {
      this.#listener.cleared?.(spec, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/**
 * Removes the object in its latest version if it is still ours. Returns false if it is gone or not
 * ours.
 */
async function removed(
  store: LeaseStore,
  spec: MirrorSpec,
  object: LeaseObject,
  signal: AbortSignal,
): Promise<boolean> {
  let seen: LeaseObject | undefined = object;
  for (let tries = 1; seen !== undefined && isOurs(seen, spec); tries++) {
    try {
      await store.remove(seen, { signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || tries >= mirrorLimits.clearTriesMax) throw error;
    }
    seen = await store.get(object.metadata.name, { signal });
  }
  return false;
}

/**
 * Whether both mirrors use the same objects. These are then updated, not removed and created again.
 */
function isSamePlace(old: MirrorSpec, spec: MirrorSpec | undefined): boolean {
  const place = ({ namespace, prefix, kubeconfig, context }: MirrorSpec) => {
    return { namespace, prefix, kubeconfig, context };
  };
  return spec !== undefined && same(place(old), place(spec));
}
