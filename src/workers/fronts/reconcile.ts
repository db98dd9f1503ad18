/**
 * Brings one object a step further. Everything that it does may be repeated: after a crash between any two writes the
 * next pass finds the object, the request and the Secrets as they are, and goes on.
 */
import { Problem } from "../../api/problem.ts";
import type { Parameters as ClusterParameters } from "../../core/model/cluster.ts";
import type { Refusal } from "../../core/model/outcome.ts";
import { Hopeless } from "../../drivers/driver.ts";
import type { HubApi } from "../../drivers/hub/hub-api.ts";
import { type Kind, pathOf } from "../../drivers/hub/kind.ts";
import { conditionsOf, shortened } from "./conditions.ts";
import type { Access, FrontKind, FrontObject, Situation, Wanted } from "./front-kind.ts";
import type { FrontRequests, Known, Owner } from "./front-requests.ts";
import type { HandOver } from "./hand-over.ts";
import { installationKey, notedMark } from "./installation.ts";
import { frontLimits } from "./limits.ts";

/** The object stays until its cluster is gone. */
export const finalizer = "berth/cluster";
/** The request that was made for the object: it is never made twice. */
const leaseNote = "berth/lease";
/** The cluster that it got, so that its end can be awaited. */
const clusterNote = "berth/resource";
const instanceNote = "berth/instance";
const requesterNote = "clustertemplates.openshift.io/requester";
const requesterMax = 253;

/** What the server knows and a worker does not. */
export interface FrontTools {
  /** Parameters for the template of the pool. Throws a Problem. */
  resolve(space: string, wanted: Wanted): Promise<ClusterParameters | undefined>;
  access(instance: string): Promise<Access | undefined>;
  explain(refusal: Refusal): string;
}

export interface ReconcileParts {
  readonly hub: HubApi;
  readonly front: FrontKind;
  readonly requests: FrontRequests;
  readonly handOver: HandOver;
  readonly tools: FrontTools;
  /** Why the object must not ask yet; undefined: it may. */
  readonly heldBack: (object: FrontObject) => Promise<Situation | undefined>;
  /** How long a text about waiting stays: with many objects, each move of the queue would be a write for each. */
  readonly textMs: () => number;
  /** The mark of this installation. */
  readonly installation: string;
  /** Whether another installation has this mark, as far as what only administrators can write tells. */
  readonly isInstallation: (mark: string) => boolean;
  /** Whether another installation uses the name of the API server, so that nothing new is begun. */
  readonly isTaken: () => boolean;
  /** It has the mark of another installation, and is left alone. */
  readonly ofAnother: (object: FrontObject) => void;
  /** The object as it is after a write. */
  readonly written: (object: FrontObject) => void;
  readonly signal: AbortSignal;
}

export class Reconciler {
  readonly #parts: ReconcileParts;
  /** What each object was like when nothing was left to do. */
  readonly #settled = new Map<string, { readonly looks: string; readonly untilMs: number }>();

  /** When each object may be told again what it waits for. */
  readonly #tellAt = new Map<string, number>();

  constructor(parts: ReconcileParts) {
    this.#parts = parts;
  }

  /** Objects that are gone are forgotten. */
  keepOnly(isThere: (uid: string) => boolean): void {
    for (const uid of this.#settled.keys()) if (!isThere(uid)) this.#settled.delete(uid);
    for (const uid of this.#tellAt.keys()) if (!isThere(uid)) this.#tellAt.delete(uid);
  }

  async run(object: FrontObject): Promise<void> {
    const owner = ownerOf(this.#parts.front.kind, object);
    if (await this.#isOfAnother(object, owner)) {
      this.#parts.ofAnother(object);
      return;
    }
    const isOurs = (object.metadata.finalizers ?? []).includes(finalizer);
    if (object.metadata.deletionTimestamp !== undefined) {
      if (isOurs) await this.#remove(object, owner);
      return;
    }
    const annotations = { [installationKey]: this.#parts.installation };
    if (!isOurs) {
      // Another operator has served it. It is left to that operator.
      if (object.status !== undefined && !hasAsked(object)) {
        if (Object.keys(object.status).length > 0) return;
      }
      if (this.#parts.isTaken()) return;
      const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
      await this.#run(await this.#patch(object, { finalizers, annotations }), owner);
      return;
    }
    const isMarked = notedMark(object) === this.#parts.installation;
    await this.#run(isMarked ? object : await this.#patch(object, { annotations }), owner);
  }

  /**
   * A mark can be forged by who may change the object. So it counts only if templates have it too, and what has a request
   * here is ours, whatever is written on it.
   */
  async #isOfAnother(object: FrontObject, owner: Owner): Promise<boolean> {
    const { isInstallation, requests } = this.#parts;
    const mark = notedMark(object);
    if (mark === undefined || !isInstallation(mark)) return false;
    return (await requests.find(owner)).is === "unknown";
  }

  async #run(object: FrontObject, owner: Owner): Promise<void> {
    const known = await this.#parts.requests.find(owner);
    if (known.is === "unknown") return this.#ask(object, owner);
    const looks = `${object.metadata.resourceVersion} ${JSON.stringify(known)}`;
    const settled = this.#settled.get(owner.uid);
    if (settled?.looks === looks && performance.now() < settled.untilMs) return;
    const noted = await this.#note(object, known);
    const situation = await this.#situation(noted, known);
    const wrote = await this.#tell(noted, situation);
    const isSettled = situation.is === "ready" || situation.is === "failed";
    if (wrote || noted !== object || !isSettled) return;
    const access = situation.is === "ready" ? situation.access : undefined;
    this.#settled.set(owner.uid, { looks, untilMs: performance.now() + restMs(access) });
  }

  async #ask(object: FrontObject, owner: Owner): Promise<void> {
    const { front, heldBack } = this.#parts;
    if (hasAsked(object)) {
      const message = "Cannot go on: the request has ended, and Berth does not know how";
      await this.#tell(object, { is: "failed", message });
      return;
    }
    if (isOver(object)) return;
    const wanted = front.wants(object);
    if ("refused" in wanted) {
      await this.#tell(object, { is: "failed", message: wanted.refused });
      return;
    }
    const waits = await heldBack(object);
    if (waits !== undefined) {
      await this.#tell(object, waits);
      return;
    }
    const failed = await this.#request(object, owner, wanted);
    if (failed === undefined) await this.#run(object, owner);
    else await this.#tell(object, { is: "failed", message: failed });
  }

  /** Undefined if the request was made; otherwise why it never can be. */
  async #request(object: FrontObject, owner: Owner, wanted: Wanted): Promise<string | undefined> {
    const { requests, front, tools } = this.#parts;
    const { namespace, name } = object.metadata;
    const requester = requesterOf(object);
    try {
      const parameters = await tools.resolve(owner.space, wanted);
      const refusal = await requests.ask(owner, {
        ...{ pool: wanted.pool, parameters, requester },
        holder: shortened(`${namespace}/${name}`, 256),
        labels: { kind: front.kind.kind, ...(requester && { requester }) },
      });
      return refusal && tools.explain(refusal);
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return `${error.message}. ${error.hint}`;
    }
  }

  /** Before anything follows from it: the request and the cluster are written on the object. */
  #note(object: FrontObject, known: Known): Promise<FrontObject> | FrontObject {
    if (known.is !== "waiting" && known.is !== "held") return object;
    const notes: Record<string, string> = {
      [leaseNote]: known.id,
      ...(known.is === "held" && {
        [clusterNote]: known.resource,
        [instanceNote]: known.instance,
      }),
    };
    const isSame = Object.entries(notes).every(([key, value]) => noteOf(object, key) === value);
    return isSame ? object : this.#patch(object, { annotations: notes });
  }

  async #situation(object: FrontObject, known: Known): Promise<Situation> {
    const { tools, front } = this.#parts;
    switch (known.is) {
      case "waiting":
        return { is: "waiting", message: known.message, making: known.making };
      case "held": {
        const access = await tools.access(known.instance);
        const message = `The access to ${known.resource} is being made`;
        if (access === undefined) return { is: "handing-over", message, failed: false };
        return this.#handOver(object, access, known.apiUrl);
      }
      case "ended": {
        const names = front.secrets(object, noAccess).map(({ name }) => name);
        await this.#parts.handOver.withdraw(object, names);
        return { is: "failed", message: tools.explain(known.refusal) };
      }
      case "unknown":
        throw new Error("Cannot tell the situation of a request that is not known");
    }
  }

  async #handOver(object: FrontObject, access: Access, apiUrl: string): Promise<Situation> {
    const { handOver, front } = this.#parts;
    const secrets = front.secrets(object, access);
    try {
      await handOver.secrets(object, secrets);
      if (front.readers !== undefined) {
        const names = secrets.map(({ name }) => name);
        await handOver.readers(object, front.readers, names);
      }
    } catch (error) {
      if (!(error instanceof Hopeless)) throw error;
      return { is: "handing-over", message: error.message, failed: true };
    }
    return { is: "ready", apiUrl, access };
  }

  async #remove(object: FrontObject, owner: Owner): Promise<void> {
    const { requests } = this.#parts;
    const known = await requests.find(owner);
    const noted = await this.#note(object, known);
    if (known.is === "waiting" || known.is === "held") {
      await requests.end(owner, known, requesterOf(object));
      // It may have been granted in the last moment: the next pass looks again.
      if ((await requests.find(owner)).is !== "ended") return;
    }
    const [resource, instance] = [noteOf(noted, clusterNote), noteOf(noted, instanceNote)];
    if (resource !== undefined && instance !== undefined) {
      if (await requests.exists(owner, { resource, instance })) {
        const message = `Waiting until ${resource} is destroyed`;
        await this.#tell(noted, { is: "destroying", message });
        return;
      }
    }
    const rest = (noted.metadata.finalizers ?? []).filter((each) => each !== finalizer);
    await this.#patch(noted, { finalizers: rest });
  }

  /** Writes the status, if it is another one. Returns whether it was. */
  async #tell(object: FrontObject, situation: Situation): Promise<boolean> {
    const { front, hub, signal, written } = this.#parts;
    const status = front.status(object, situation, new Date().toISOString().replace(/\.\d+/, ""));
    const old = new Map(Object.entries(object.status ?? {}));
    const changed = Object.entries(status).filter(([key, value]) => {
      return canonical(old.get(key)) !== canonical(value);
    });
    if (changed.length === 0) return false;
    const { name, namespace, resourceVersion, uid = "" } = object.metadata;
    if (isWaiting(situation) && performance.now() < (this.#tellAt.get(uid) ?? 0)) return false;
    const path = [...pathOf(front.kind, namespace, name), "status"];
    const body = { metadata: { resourceVersion }, status: Object.fromEntries(changed) };
    written(await hub.call<FrontObject>({ method: "PATCH", path, body, signal }, front.kind));
    this.#tellAt.set(uid, performance.now() + this.#parts.textMs());
    return true;
  }

  /** Changes the metadata of just this version of the object. */
  async #patch(object: FrontObject, metadata: object): Promise<FrontObject> {
    const { hub, front, signal, written } = this.#parts;
    const changed = await hub.patch(front.kind, object, { metadata }, { signal });
    written(changed);
    return changed;
  }
}

/** Whether the situation lasts, and changes only in its words. What has begun or ended is told at once. */
function isWaiting(situation: Situation): boolean {
  return situation.is === "held-back" || (situation.is === "waiting" && !situation.making);
}

/** Access that ends is looked at sooner, the sooner it ends: what it is renewed with must arrive in time. */
function restMs(access: Access | undefined): number {
  const leftMs = Date.parse(access?.expiresAt ?? "") - Date.now();
  if (Number.isNaN(leftMs)) return frontLimits.recheckMs;
  return Math.min(frontLimits.recheckMs, Math.max(0, leftMs / 4));
}

const noAccess: Access = { kubeconfig: "", password: "" };

/** Until it is gone, and its cluster with it. */
export function hasAsked(object: FrontObject): boolean {
  return noteOf(object, leaseNote) !== undefined;
}

export function ownerOf({ kind }: Kind, { metadata }: FrontObject): Owner {
  const { namespace = "", uid = "" } = metadata;
  return { space: namespace, kind, uid };
}

/** The cluster that is noted on an object; its author may have written anything. */
export function instanceNoteOf(object: FrontObject): string | undefined {
  return noteOf(object, instanceNote);
}

function noteOf({ metadata }: FrontObject, key: string): string | undefined {
  return metadata.annotations?.[key];
}

/** Whether the object has failed for good, without a request. */
function isOver(object: FrontObject): boolean {
  const conditions = conditionsOf(object);
  const reasons = ["Failed", "UnableToProvision", "Unavailable"];
  return conditions.some(({ type, reason = "" }) => type === "Ready" && reasons.includes(reason));
}

/** Only a policy of the API server can vouch for it: see deploy/caas. */
function requesterOf(object: FrontObject): string | undefined {
  const found = shortened(noteOf(object, requesterNote) ?? "", requesterMax);
  return found === "" ? undefined : found;
}

/** The API server may answer with the keys in another order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
