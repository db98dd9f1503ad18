/** The requests of one API server's objects, in the broker. */
import type { Broker } from "../../broker/broker.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import { standing } from "../../core/decide/acquire.ts";
import { clustersOf, isMade } from "../../core/explain/cluster-view.ts";
import { requestView } from "../../core/explain/view.ts";
import type { Parameters as ClusterParameters } from "../../core/model/cluster.ts";
import type { Ask } from "../../core/model/command.ts";
import type { PoolName, RequestId, ResourceName, SpaceName } from "../../core/model/ids.ts";
import type { Origin } from "../../core/model/origin.ts";
import type { Refusal } from "../../core/model/outcome.ts";
import type { State } from "../../core/model/state.ts";
import type { Instant } from "../../core/model/time.ts";
import { poolsOf } from "../../core/queue/needs.ts";
import { frontLimits } from "./limits.ts";

/** What the broker knows about the request of an object. */
export type Known =
  | { readonly is: "unknown" }
  | {
      readonly is: "waiting";
      readonly id: RequestId;
      readonly message: string;
      readonly making: boolean;
    }
  | {
      readonly is: "held";
      readonly id: RequestId;
      readonly resource: string;
      readonly instance: string;
      readonly apiUrl: string;
    }
  | { readonly is: "ended"; readonly refusal: Refusal };

/** An object as the broker sees it. */
export interface Owner {
  readonly space: string;
  /** The name of its kind. */
  readonly kind: string;
  readonly uid: string;
}

/** The cluster that is noted on an object. */
export interface NotedCluster {
  readonly resource: string;
  readonly instance: string;
}

/** What the objects of a namespace show. */
export interface Shown {
  readonly uids: ReadonlySet<string>;
  /** Of the clusters that are noted on them. */
  readonly instances: ReadonlySet<string>;
}

export interface NewRequest {
  readonly pool: string;
  readonly parameters: ClusterParameters | undefined;
  readonly holder: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly requester: string | undefined;
}

export class FrontRequests {
  readonly #broker: Broker;
  /** No client can send such a request id: it must begin with a letter or a digit. */
  readonly #prefix: string;
  readonly #origin: Origin;

  constructor(broker: Broker, front: string) {
    this.#broker = broker;
    this.#prefix = `~caas/${front}/`;
    this.#origin = { way: "object", by: front };
  }

  #keyOf({ space, kind, uid }: Owner): string {
    return `${space}/${this.#prefix}${kind}/${uid}`;
  }

  find(owner: Owner): Promise<Known> {
    const key = this.#keyOf(owner);
    return this.#broker.read((state, now) => knownIn(state, key, now));
  }

  /** The uids of those that have made a request, whatever has become of it. */
  asked(owners: readonly Owner[]): Promise<ReadonlySet<string>> {
    return this.#broker.read(({ keys }) => {
      const known = owners.filter((owner) => keys.has(this.#keyOf(owner)));
      return new Set(known.map(({ uid }) => uid));
    });
  }

  /** Makes the request. Undefined if it was made; otherwise why it never can be. */
  async ask(owner: Owner, wanted: NewRequest): Promise<Refusal | undefined> {
    const { pool, parameters, holder, labels, requester } = wanted;
    const item = { pool: pool as PoolName, count: 1, ...(parameters && { parameters }) };
    const ask = {
      ...{ holder, space: owner.space as SpaceName, key: this.#keyOf(owner), items: [item] },
      ...{ ttlMs: frontLimits.ttlMs, labels },
    };
    const id = newRequestId(this.#broker.now());
    const outcome = await this.#broker.submit(
      { type: "acquire", id, ask, waitMs: 0 },
      this.#originOf(owner, requester),
    );
    return outcome.type === "refused" ? outcome.refusal : undefined;
  }

  /** Leaves the queue, or releases the lease. The next `find` says what has become of it. */
  async end(owner: Owner, known: Known, requester?: string): Promise<void> {
    const from = this.#originOf(owner, requester);
    if (known.is === "waiting") {
      await this.#broker.submit({ type: "leave", id: known.id, why: "cancelled" }, from);
    } else if (known.is === "held") {
      await this.#broker.submit({ type: "release", id: known.id }, from);
    }
  }

  /**
   * Whether the cluster that an object had still exists. Anything may be written on an object: a cluster that
   * somebody else holds now, or that another space is charged for, is not its own.
   */
  exists({ space }: Owner, { resource, instance }: NotedCluster): Promise<boolean> {
    return this.#broker.read(({ resources }) => {
      const found = resources.get(resource as ResourceName);
      if (!isMade(found) || found.cluster.instance !== instance) return false;
      return found.cluster.space === space && found.claim?.purpose !== "use";
    });
  }

  /** The pools of all that objects of a space have asked for and that no object shows any longer. */
  hidden(space: string, shown: Shown): Promise<readonly string[]> {
    return this.#broker.read((state) => {
      const asked = [...state.requests.values(), ...state.leases.values()].flatMap(({ ask }) => {
        const owner = this.#ownerIn(ask);
        const isHidden = owner?.space === space && !shown.uids.has(owner.uid);
        return isHidden ? ask.items.map((item) => String(poolsOf(item)[0])) : [];
      });
      const leaving = Array.from(clustersOf(state)).filter(({ cluster, claim }) => {
        const isOver = cluster.space === space && claim?.purpose !== "use";
        return isOver && !shown.instances.has(cluster.instance);
      });
      return [...asked, ...leaving.map(({ pool }) => String(pool.name))];
    });
  }

  #ownerIn(ask: Ask): Owner | undefined {
    const at = ask.key?.indexOf(`/${this.#prefix}`) ?? -1;
    if (ask.key === undefined || at === -1 || ask.space !== ask.key.slice(0, at)) return undefined;
    const [kind = "", uid = ""] = ask.key.slice(at + 1 + this.#prefix.length).split("/");
    return { space: ask.space, kind, uid };
  }

  /** Keeps all of them alive, also while the API server cannot be reached. Returns their owners. */
  async beat(): Promise<readonly Owner[]> {
    const all = await this.#broker.read((state) => {
      const found: { readonly id: RequestId; readonly owner: Owner }[] = [];
      for (const { id, ask } of [...state.requests.values(), ...state.leases.values()]) {
        const owner = this.#ownerIn(ask);
        if (owner !== undefined) found.push({ id, owner });
      }
      return found;
    });
    for (const { id } of all) {
      await this.#broker.submit({ type: "keep-waiting", id, waitMs: 0 });
    }
    return all.map(({ owner }) => owner);
  }

  /** Without somebody whom the API server vouches for, it is the front itself. */
  #originOf({ space }: Owner, requester: string | undefined): Origin {
    return { ...this.#origin, space, ...(requester && { by: requester }) };
  }
}

function knownIn(state: State, key: string, now: Instant): Known {
  const id = state.keys.get(key);
  if (id === undefined) return { is: "unknown" };
  const request = state.requests.get(id);
  if (request !== undefined) {
    const { position, reason } = requestView(request, now);
    const making = reason.code === "cluster_creating" || reason.code === "cluster_resuming";
    return { is: "waiting", id, message: `Position ${position}. ${reason.message}`, making };
  }
  const claim = state.leases.get(id)?.claims[0];
  const answer = standing(state, id, now);
  if (answer.type === "refused") return { is: "ended", refusal: answer.refusal };
  if (claim === undefined || !isMade(claim.resource)) {
    return { is: "ended", refusal: { code: "request_not_found", id } };
  }
  const { name, cluster } = claim.resource;
  const { instance, apiUrl } = cluster;
  return { is: "held", id, resource: name, instance, apiUrl: apiUrl ?? "" };
}
