/**
 * Shows what is lent as Leases of Kubernetes, so that `kubectl get leases` tells who holds what. It
 * follows the broker and is never in its way: nothing is lent later, or not at all, because of it.
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
import { type MirrorFigures, type MirrorNews, MirrorRun } from "./mirror-run.ts";

interface News extends MirrorNews {
  /** What was shown there is gone, or could not be removed. */
  cleared?(spec: MirrorSpec, cause?: Error): void;
}

export class Mirror {
  readonly #broker: Broker;
  readonly #news: News;
  #spec: MirrorSpec | undefined;
  #run: MirrorRun | undefined;
  readonly #figures: MirrorFigures = {
    up: false,
    behind: 0,
    failures: 0,
    written: { created: 0, updated: 0, deleted: 0 },
  };
  /** One change after the other: what the old one leaves must be gone before a new one begins. */
  #changing: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();

  constructor(broker: Broker, news: News = {}) {
    this.#broker = broker;
    this.#news = news;
  }

  /** Undefined while nothing is mirrored. */
  get figures(): Readonly<MirrorFigures> | undefined {
    return this.#spec && this.#figures;
  }

  /** Undefined: it is to stop. What is shown elsewhere, or is to be shown no more, is removed. */
  configure(spec: MirrorSpec | undefined): void {
    const old = this.#spec;
    if (same(old, spec)) return;
    this.#spec = spec;
    this.#changing = this.#changing.then(() => this.#change(old, spec));
  }

  /** The objects stay: whoever holds something still does. */
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
      this.#run = new MirrorRun(this.#broker, spec, this.#figures, this.#news);
    }
  }

  /** Once: what cannot be removed now, nobody is going to come back for. */
  async #clear(spec: MirrorSpec): Promise<void> {
    const { signal } = this.#stop;
    try {
      const store = await storeFor(spec);
      const { items } = await store.list({ signal });
      for (const object of items) {
        if (await removed(store, spec, object, signal)) this.#figures.written.deleted += 1;
        await pause(mirrorLimits.writeGapMs, signal);
      }
      this.#news.cleared?.(spec);
    } catch (error) {
      this.#news.cleared?.(spec, error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** In whatever version it is by then, as long as it is ours. False: it was gone, or is not. */
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

/** The objects are the same ones then, and are put right rather than made anew. */
function isSamePlace(old: MirrorSpec, spec: MirrorSpec | undefined): boolean {
  const place = ({ namespace, prefix, kubeconfig, context }: MirrorSpec) => {
    return { namespace, prefix, kubeconfig, context };
  };
  return spec !== undefined && same(place(old), place(spec));
}
