/**
 * Calls to a hub: an API server on which something else makes clusters. Every failure is a
 * `DriverError` that says what to do about it, and contains no secret.
 */
import { Problem } from "../../api/problem.ts";
import { pause } from "../../client/pause.ts";
import type { ApiCall, ApiServer } from "../../kubernetes/api-server.ts";
import { isConflict } from "../../kubernetes/errors.ts";
import type { KubeList, KubeObject } from "../../kubernetes/kube-objects.ts";
import { Absent, Conflict, Hopeless, Retry } from "../driver.ts";
import { noMask, type SecretMask } from "../secret-mask.ts";
import { type Kind, pathOf } from "./kind.ts";

const pageSize = 500;
/** More than any hub has of one kind. */
const itemsMax = 200_000;
/** A list that changes all the time is given up after so many beginnings. */
const listAttemptsMax = 3;

const throttledAttemptsMax = 4;
/** A longer pause is the caller's: others wait for the hub meanwhile. */
const throttledMsMax = 5_000;

export interface Within {
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly answerMs?: number | undefined;
}

export class HubApi {
  readonly #connect: () => Promise<ApiServer>;
  readonly #mask: SecretMask;
  #api: Promise<ApiServer> | undefined;

  /** `connect` is called again after a failure, because credentials may change. */
  constructor(connect: () => Promise<ApiServer>, mask: SecretMask = noMask) {
    this.#connect = connect;
    this.#mask = mask;
  }

  connected(): Promise<ApiServer> {
    this.#api ??= this.#connect();
    return this.#api;
  }

  /** Undefined if there is none. */
  async find<Found extends KubeObject>(
    kind: Kind,
    name: string,
    { namespace, ...rest }: Within = {},
  ): Promise<Found | undefined> {
    try {
      return await this.call<Found>({ path: pathOf(kind, namespace, name), ...rest }, kind);
    } catch (error) {
      if (error instanceof Absent) return undefined;
      throw error;
    }
  }

  /** All of them, however many there are. Without a namespace: in all namespaces. */
  async list<Item extends KubeObject>(
    kind: Kind,
    { namespace, labels, ...rest }: Within & { readonly labels?: string } = {},
  ): Promise<readonly Item[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pages<Item>(kind, namespace, labels, rest);
      } catch (error) {
        // The continuation of a long list is too old: the list begins again.
        if (!(error instanceof Outdated) || attempt === listAttemptsMax) throw error;
      }
    }
  }

  async #pages<Item extends KubeObject>(
    kind: Kind,
    namespace: string | undefined,
    labelSelector: string | undefined,
    rest: Within,
  ): Promise<readonly Item[]> {
    const found: Item[] = [];
    let next: string | undefined;
    do {
      const query = { labelSelector, limit: pageSize, continue: next };
      const call = { path: pathOf(kind, namespace), query, ...rest };
      const page = await this.call<KubeList<Item>>(call, kind);
      if (!Array.isArray(page.items) || found.length > itemsMax) {
        throw new Retry(`Cannot list ${kind.kind}: the hub did not answer with a list that ends`);
      }
      for (const item of page.items) found.push(item);
      next = page.metadata?.continue || undefined;
    } while (next !== undefined);
    return found;
  }

  /** Rejects with `Conflict` if the name is taken. */
  create<Made extends KubeObject>(
    kind: Kind,
    body: object,
    { namespace, ...rest }: Within = {},
  ): Promise<Made> {
    return this.call<Made>({ method: "POST", path: pathOf(kind, namespace), body, ...rest }, kind);
  }

  /** Changes just this object in just this version of it; anything else is a `ChangedMeanwhile`. */
  async patch(
    kind: Kind,
    { metadata }: KubeObject,
    change: object,
    rest: Within = {},
  ): Promise<KubeObject> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const body = { ...change, metadata: { ...metadataOf(change), uid, resourceVersion } };
    const path = pathOf(kind, namespace, name);
    try {
      return await this.call<KubeObject>({ method: "PATCH", path, body, ...rest }, kind);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      throw new ChangedMeanwhile(
        `Cannot change ${kind.kind} ${name}: it was changed at the same time`,
      );
    }
  }

  /**
   * Deletes just this object: another one may have its name by now, and has another uid. `unchanged`:
   * only if nobody has changed it since it was read. False if it was left alone.
   */
  async remove(
    kind: Kind,
    { metadata }: KubeObject,
    { unchanged = false, ...rest }: Within & { readonly unchanged?: boolean } = {},
  ): Promise<boolean> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const body = { preconditions: { uid, ...(unchanged && { resourceVersion }) } };
    const path = pathOf(kind, namespace, name);
    try {
      await this.call({ method: "DELETE", path, body, ...rest }, kind);
      return true;
    } catch (error) {
      if (error instanceof Absent || error instanceof Conflict) return false;
      throw error;
    }
  }

  /** A hub that throttles and says for how long is asked again then: it has done nothing yet. */
  async call<Reply>(call: ApiCall, kind?: Kind): Promise<Reply> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await (await this.connected()).call<Reply>(call);
      } catch (error) {
        call.signal?.throwIfAborted();
        const waitMs = attempt < throttledAttemptsMax ? throttledMs(error) : undefined;
        if (waitMs === undefined) throw await this.#asDriverError(error, call, kind);
        await pause(waitMs, call.signal);
      }
    }
  }

  async #asDriverError(error: unknown, call: ApiCall, kind: Kind | undefined): Promise<Error> {
    const said = this.#mask.clean(error instanceof Error ? error.message : String(error));
    if (isMissing(error, call)) return new Absent(said);
    if (isConflict(error)) return new Conflict(said);
    if (!(error instanceof Problem)) {
      this.#api = undefined; // The kubeconfig may have been renewed.
      return new Retry(said);
    }
    switch (error.status) {
      case 400:
      case 422:
        return new Hopeless(said);
      case 404:
        return new Retry(await this.#withoutKind(kind, said));
      case 410:
        return new Outdated(said);
      case 401:
        this.#api = undefined;
        return new Retry(said);
      default:
        return new Retry(said); // Throttled, forbidden for now, or in trouble.
    }
  }

  /** It can work later: once somebody has installed what is missing. */
  async #withoutKind(kind: Kind | undefined, said: string): Promise<string> {
    if (kind === undefined) return said;
    const { url } = await this.connected();
    const what = `${kind.kind} of ${kind.group}/${kind.version}`;
    const hint = `Install ${kind.from} there, or correct driver and kubeconfig of the template`;
    return `Cannot use the hub ${url}: it does not know the kind ${what}. ${hint}`;
  }
}

/** How long a hub asks us to wait, if that is not long; undefined: it does not. */
function throttledMs(error: unknown): number | undefined {
  if (!(error instanceof Problem) || error.status !== 429) return undefined;
  const seconds = error.facts["retryAfterSeconds"];
  if (typeof seconds !== "number" || seconds < 0) return undefined;
  return seconds * 1_000 > throttledMsMax ? undefined : seconds * 1_000;
}

/** Somebody else has written the object since it was read. */
export class ChangedMeanwhile extends Retry {}

/** 410: what was asked for is too old. */
class Outdated extends Retry {}

function metadataOf(change: object): object {
  return "metadata" in change && typeof change.metadata === "object" && change.metadata !== null
    ? change.metadata
    : {};
}

/**
 * The API server says that what the path names does not exist, or its namespace does not. A 404 of a
 * proxy, or for an unknown kind, proves nothing.
 */
function isMissing(error: unknown, { path }: ApiCall): error is Problem {
  if (!(error instanceof Problem) || error.code !== "kubernetes_not_found") return false;
  return path.some((name) => error.message.includes(`"${name}" not found`));
}
