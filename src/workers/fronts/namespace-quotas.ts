import { instanceKind } from "../../drivers/caas/objects.ts";
import type { FrontObject, Situation } from "./front-kind.ts";
import type { FrontRequests } from "./front-requests.ts";
import { templateOf } from "./instances.ts";
import type { ObjectBoard } from "./object-board.ts";
import { deletedAtMs, heldBackBy, type NamespaceQuota, quotaOf } from "./quota.ts";
import { hasAsked, instanceNoteOf, ownerOf } from "./reconcile.ts";

interface QuotaParts {
  readonly board: Pick<ObjectBoard<FrontObject>, "objects">;
  readonly requests: FrontRequests;
  /** The pool of each ClusterTemplate. */
  readonly pools: ReadonlyMap<string, string>;
}

/** The ClusterTemplateQuotas of all namespaces, and what counts against them. */
export class NamespaceQuotas {
  readonly #parts: QuotaParts;
  readonly #costs = new Map<string, number>();

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  setCost(template: string, cost: number): void {
    this.#costs.set(template, cost);
  }

  has(namespace: string): boolean {
    return this.#of(namespace) !== undefined;
  }

  /** When a quota deletes the instance, by the clock of the API server; undefined: never. */
  deletedAtMs(object: FrontObject): number | undefined {
    return deletedAtMs(this.#of(object.metadata.namespace), object);
  }

  /** Whether the instance has to wait. One whose request could not be noted on it has asked all the same. */
  async heldBack(
    object: FrontObject,
    instances: readonly FrontObject[],
  ): Promise<Situation | undefined> {
    const { namespace, uid } = object.metadata;
    const quota = this.#of(namespace);
    if (quota === undefined) return undefined;
    const costOf = (template: string) => this.#costs.get(template) ?? 0;
    const all = instances.filter(({ metadata }) => metadata.namespace === namespace);
    const peers = all.filter(({ metadata }) => metadata.uid !== uid);
    const noted = peers.filter(hasAsked);
    // Mostly this decides: what is on the objects costs less to look at than what the broker knows.
    const held = heldBackBy(quota, object, noted, costOf);
    if (held !== undefined) return held;
    const silent = peers.filter((each) => !hasAsked(each));
    const owners = silent.map((each) => ownerOf(instanceKind, each));
    const asked = await this.#parts.requests.asked(owners);
    const counted = silent.filter(({ metadata }) => asked.has(metadata.uid ?? ""));
    const hidden = await this.#hidden(all, object);
    return heldBackBy(quota, object, [...noted, ...counted, ...hidden], costOf);
  }

  #of(namespace: string | undefined): NamespaceQuota | undefined {
    return quotaOf(this.#parts.board.objects, namespace);
  }

  /** Who removes the finalizer or the notes of an object has what it asked for all the same, until that is gone. */
  async #hidden(shown: readonly FrontObject[], object: FrontObject): Promise<FrontObject[]> {
    const { requests, pools } = this.#parts;
    const uids = new Set(shown.map(({ metadata }) => metadata.uid ?? ""));
    const instances = new Set(shown.flatMap((each) => instanceNoteOf(each) ?? []));
    const { namespace = "" } = object.metadata;
    const own = templateOf(object.spec);
    return (await requests.hidden(namespace, { uids, instances })).flatMap((pool) => {
      const isOf = (template: string) => pools.get(template) === pool;
      const template = isOf(own) ? own : [...pools.keys()].find(isOf);
      const spec = { clusterTemplateRef: template };
      return template === undefined ? [] : [{ metadata: { name: "" }, spec }];
    });
  }
}
