/**
 * What is done for a lease outside. Drivers that mint access are asked when a cluster is lent, and again
 * before it ends, for as long as the lease goes on; it never outlasts the lease by more than the
 * shortest time that a driver grants. And the cluster is marked with the space that has it now.
 */
import { busyState } from "../../core/model/lifecycle.ts";
import { tagsOf } from "../../drivers/names.ts";
import type { CallLimit } from "./call-limit.ts";
import { type ClusterFacts, type ClusterWork, refOf, type WatchedCluster } from "./cluster-work.ts";
import type { DriverSet } from "./driver-set.ts";
import type { HubPlaces } from "./hub-places.ts";
import type { TemplateArchive } from "./template-archive.ts";

export interface SweepTools {
  readonly work: ClusterWork;
  readonly archive: TemplateArchive;
  readonly hubs: HubPlaces;
  readonly drivers: DriverSet;
  readonly calls: CallLimit;
}

/** Without an end of the lease, access lasts this long and is renewed. */
const spanMs = 3_600_000;
/** No driver grants less. */
const shortestMs = 600_000;
/** Renewed when less than this part is left. */
const renewAt = 0.5;

/** A mark that cannot be written, as by an account without the right, is no reason to stop lending. */
const markAgainMs = 600_000;

interface Marked {
  readonly space: string;
  readonly againAtMs: number;
}

interface Minted {
  readonly fence: number;
  readonly renewAtMs: number;
  /** The same by a clock that nobody sets; the other one also counts while the machine sleeps. */
  readonly steadyAtMs: number;
}

const never = Number.POSITIVE_INFINITY;

export class LentAccess {
  readonly #tools: SweepTools;
  readonly #minted = new Map<string, Minted>();
  /** The spaces that clusters are marked with, by instance. */
  readonly #marked = new Map<string, Marked>();

  constructor(tools: SweepTools) {
    this.#tools = tools;
  }

  /** Makes what is missing, for all lent clusters. Rejects after the first failure, with the others done. */
  async renew(signal: AbortSignal): Promise<void> {
    const { archive, work } = this.#tools;
    if (archive.current.every(({ how }) => how.driver === "command") && this.#minted.size === 0) {
      return;
    }
    const lent = (await work.clusters()).filter(({ state }) => state === busyState);
    const known = new Set(lent.map(({ instance }) => instance));
    for (const instance of this.#minted.keys()) {
      if (known.has(instance)) continue;
      this.#minted.delete(instance);
      this.#marked.delete(instance);
    }
    const tries = lent.flatMap((cluster) => [
      this.#renewOne(cluster, signal),
      this.#mark(cluster, signal),
    ]);
    const failed = (await Promise.allSettled(tries)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  async #mark(cluster: ClusterFacts, signal: AbortSignal): Promise<void> {
    const { instance, space } = cluster;
    const known = this.#marked.get(instance);
    if (space === null || (known?.space === space && performance.now() < known.againAtMs)) return;
    this.#marked.set(instance, { space, againAtMs: performance.now() + markAgainMs });
    const { driver } = await this.#tools.drivers.open(cluster, async () => ({}));
    const tags = tagsOf(cluster);
    await this.#tools.calls.run(async () => driver.mark?.(refOf(cluster), tags, { signal }));
    this.#marked.set(instance, { space, againAtMs: Number.POSITIVE_INFINITY });
  }

  async #renewOne(cluster: WatchedCluster, signal: AbortSignal): Promise<void> {
    const { instance } = cluster;
    const known = this.#minted.get(instance);
    if (known?.renewAtMs === never) return;
    const lent = await this.#tools.work.lentOf(cluster);
    if (lent === undefined) return;
    const { fence, endsAtMs } = lent;
    const now = Date.now();
    const minted = this.#minted.get(instance);
    if (minted?.fence === fence && !isDue(minted, now)) return;
    const { driver } = await this.#tools.drivers.open(cluster, async () => ({}));
    if (!driver.capabilities.mintsAccess) {
      this.#minted.set(instance, { fence, renewAtMs: never, steadyAtMs: never });
      return;
    }
    const untilMs = Math.min(endsAtMs ?? never, now + spanMs);
    const bundle = await this.#tools.calls.run(() =>
      driver.credentials(refOf(cluster), { signal, until: new Date(untilMs) }),
    );
    const life = lifeMs(bundle.expiresAt, untilMs, now);
    const lastsMs = bundle.expiresAt === undefined ? undefined : life;
    await this.#tools.work.putLentAccess(cluster, { bundle, fence, lastsMs });
    const restMs = life * renewAt;
    const steadyAtMs = performance.now() + restMs;
    this.#minted.set(instance, { fence, renewAtMs: now + restMs, steadyAtMs });
  }
}

function isDue({ renewAtMs, steadyAtMs }: Minted, now: number): boolean {
  return now >= renewAtMs || performance.now() >= steadyAtMs;
}

/** How long access lasts. What ends it may have a clock of its own: its word counts only if it is sooner. */
export function lifeMs(expiresAt: string | undefined, untilMs: number, now: number): number {
  const wantedMs = Math.max(untilMs - now, shortestMs);
  const saidMs = Date.parse(expiresAt ?? "") - now;
  return saidMs > 0 && saidMs < wantedMs ? saidMs : wantedMs;
}
