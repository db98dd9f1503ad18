/** Serves the objects of one API server. */
import type { Broker } from "../../broker/broker.ts";
import { pause, pauseMs } from "../../client/pause.ts";
import type { FrontSpec } from "../../config/read-caas.ts";
import { Absent, Conflict } from "../../drivers/driver.ts";
import { ChangedMeanwhile, HubApi } from "../../drivers/hub/hub-api.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";
import type { FrontKind, FrontObject } from "./front-kind.ts";
import { FrontRequests } from "./front-requests.ts";
import { HandOver } from "./hand-over.ts";
import { inTurns } from "./in-turns.ts";
import { takenText } from "./installation.ts";
import { InstanceFront } from "./instances.ts";
import { frontLimits } from "./limits.ts";
import { NamespaceQuotas } from "./namespace-quotas.ts";
import { ObjectBoard } from "./object-board.ts";
import { nothingPublished, type PublishedTemplate, publishTemplates } from "./publish.ts";
import { quotaKind } from "./quota.ts";
import { type FrontTools, hasAsked, Reconciler } from "./reconcile.ts";
import { NamespaceClaimFront, SpaceRequestFront } from "./spaces.ts";

export interface FrontListener {
  /** The API server is served, or is served again. */
  up?(front: string): void;
  /** It cannot be reached, or does not know a kind. Called once for each cause. */
  down?(front: string, cause: Error): void;
  /** An object could not be brought further. Called once for each cause. */
  failed?(front: string, object: string, cause: Error): void;
  /** Another installation of Berth uses its name; undefined: no longer. Called once for each text. */
  taken?(front: string, why: string | undefined): void;
}

export interface FrontParts extends FrontTools {
  /** The mark of this installation on what it publishes and serves. */
  readonly installation: string;
  /** The template of a pool, as far as requests may see it; undefined: it has none. */
  templateOf(pool: string): Promise<PoolTemplate | undefined>;
}

interface PoolTemplate {
  readonly cost: number;
  /** A JSON Schema for each. */
  readonly parameters: Readonly<Record<string, object>>;
}

interface Served {
  readonly front: FrontKind;
  readonly board: ObjectBoard<FrontObject>;
  readonly reconciler: Reconciler;
}

export class FrontRun {
  readonly #spec: FrontSpec;
  readonly #broker: Broker;
  readonly #parts: FrontParts;
  readonly #listener: FrontListener;
  readonly #hub: HubApi;
  readonly #requests: FrontRequests;
  readonly #stop = new AbortController();
  readonly #served: readonly Served[];
  readonly #quotaBoard: ObjectBoard<FrontObject>;
  readonly #quotas: NamespaceQuotas;
  readonly #failures = new Map<
    string,
    { readonly message: string; readonly count: number; readonly untilMs: number }
  >();
  #published = nothingPublished;
  /** Objects with the mark of another installation: name by uid. */
  readonly #othersObjects = new Map<string, string>();
  #taken: string | undefined;
  /** Resolves when it is known whether another installation has the name, or cannot be known. */
  readonly #looked = Promise.withResolvers<void>();
  #lastError: string | undefined;
  #wake = Promise.withResolvers<void>();
  readonly #done: Promise<unknown>;

  constructor(spec: FrontSpec, broker: Broker, parts: FrontParts, listener: FrontListener = {}) {
    this.#spec = spec;
    this.#broker = broker;
    this.#parts = parts;
    this.#listener = listener;
    this.#hub = new HubApi(() => ApiServer.connect(spec));
    this.#requests = new FrontRequests(broker, spec.name);
    this.#served = frontsOf(spec).map((front) => this.#serve(front));
    this.#quotaBoard = this.#board(quotaKind);
    this.#quotas = new NamespaceQuotas({
      ...{ board: this.#quotaBoard, requests: this.#requests, pools: spec.clusterTemplates },
    });
    const boards = this.#served.map(({ board }) => board.follow(this.#stop.signal));
    if (spec.clusterTemplates.size > 0) {
      boards.push(this.#quotaBoard.follow(this.#stop.signal), this.#publish());
    } else this.#looked.resolve();
    this.#done = Promise.all([...boards, this.#passes(), this.#beats()]);
  }

  /** Leaves all objects and requests as they are. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    this.#looked.resolve();
    await this.#done;
  }

  #board(kind: FrontKind["kind"]): ObjectBoard<FrontObject> {
    return new ObjectBoard<FrontObject>(this.#hub, kind, {
      changed: () => this.#wake.resolve(),
      up: () => this.#up(),
      down: (cause) => this.#down(cause),
    });
  }

  #serve(front: FrontKind): Served {
    const board = this.#board(front.kind);
    const { signal } = this.#stop;
    const reconciler = new Reconciler({
      ...{ hub: this.#hub, front, requests: this.#requests, tools: this.#parts, signal },
      handOver: new HandOver(this.#hub, front.kind, signal),
      heldBack: async (object) =>
        front instanceof InstanceFront
          ? this.#quotas.heldBack(object, this.#instances())
          : undefined,
      installation: this.#parts.installation,
      isTaken: () => this.#published.isTaken,
      isInstallation: (mark) => this.#published.marks.has(mark),
      ofAnother: ({ metadata: { uid = "", namespace, name } }) =>
        this.#othersObjects.set(uid, `${front.kind.kind} ${namespace}/${name}`),
      textMs: () => board.size * frontLimits.textMsPerObject,
      written: (object) => board.put(object),
    });
    return { front, board, reconciler };
  }

  #up(): void {
    if (this.#lastError !== "") this.#listener.up?.(this.#spec.name);
    this.#lastError = "";
  }

  #down(cause: Error): void {
    if (this.#stop.signal.aborted) return;
    if (this.#lastError !== cause.message) this.#listener.down?.(this.#spec.name, cause);
    this.#lastError = cause.message;
  }

  #tellTaken(): void {
    const [object] = this.#othersObjects.values();
    const why = takenText(this.#spec.name, { templates: this.#published.ofAnother, object });
    if (why !== this.#taken) this.#listener.taken?.(this.#spec.name, why);
    this.#taken = why;
  }

  async #passes(): Promise<void> {
    const { signal } = this.#stop;
    const forget = this.#broker.listen({ committed: () => this.#wake.resolve() });
    await this.#looked.promise;
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      const startedAtMs = performance.now();
      this.#othersObjects.clear();
      let isCut = false;
      for (const served of this.#served) isCut = (await this.#pass(served)) || isCut;
      this.#tellTaken();
      this.#forgetGone();
      const tookMs = performance.now() - startedAtMs;
      if (isCut) {
        await pause(frontLimits.passGapMs, signal).catch(() => {});
        continue;
      }
      const rest = new AbortController();
      const late = pause(frontLimits.passEveryMs, rest.signal).catch(() => {});
      await Promise.race([this.#wake.promise, late]);
      rest.abort();
      const gapMs = Math.max(frontLimits.passGapMs, tookMs * frontLimits.passGapFactor);
      await pause(Math.min(gapMs, frontLimits.passEveryMs), signal).catch(() => {});
    }
    forget();
  }

  /**
   * So many at a time. Instances that have not asked yet, in a namespace with a quota, are looked at one after the
   * other, the oldest first: two must not count the same room.
   *
   * True if the time was over before it had seen all. What was done is found done by the next pass, which sees what
   * is new meanwhile: a crowd of objects does not keep it from those of other namespaces.
   */
  async #pass({ front, board, reconciler }: Served): Promise<boolean> {
    if (front instanceof InstanceFront) {
      if (!this.#quotaBoard.isComplete) return false;
      await this.#wanted();
    }
    const endsAtMs = performance.now() + frontLimits.passMsMax;
    let isCut = false;
    const objects = board.objects.filter((each) => this.#isServed(each)).sort(byAge);
    const groups = Map.groupBy(objects, (each) => this.#turnOf(front, each));
    const queue = inTurns([...groups.values()], ([first]) => first?.metadata.namespace);
    const workers = Array.from({ length: frontLimits.concurrent }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        for (const object of next) {
          // The rest would fail in the same way, with a line in the log for each.
          if (this.#stop.signal.aborted || !board.isComplete) return;
          isCut ||= performance.now() > endsAtMs;
          if (isCut) return;
          await this.#one(object, reconciler);
        }
      }
    });
    await Promise.all(workers);
    return isCut;
  }

  #forgetGone(): void {
    const boards = this.#served.map(({ board }) => board);
    for (const uid of this.#failures.keys()) {
      if (!boards.some((board) => board.has(uid))) this.#failures.delete(uid);
    }
    for (const { board, reconciler } of this.#served) reconciler.keepOnly((uid) => board.has(uid));
  }

  /** Objects with the same one take turns. */
  #turnOf(front: FrontKind, object: FrontObject): string {
    const { namespace = "", uid = "" } = object.metadata;
    if (!(front instanceof InstanceFront) || hasAsked(object)) return uid;
    return this.#quotas.has(namespace) ? `${namespace}/` : uid;
  }

  #isServed({ metadata: { namespace = "" } }: FrontObject): boolean {
    const { namespaces } = this.#spec;
    return namespaces === undefined || namespaces.includes(namespace);
  }

  async #one(object: FrontObject, reconciler: Reconciler): Promise<void> {
    const { uid = "", name, namespace } = object.metadata;
    const known = this.#failures.get(uid);
    if (known !== undefined && known.untilMs > performance.now()) return;
    try {
      if (await this.#expired(object)) return;
      await reconciler.run(object);
      this.#failures.delete(uid);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const cause = error instanceof Error ? error : new Error(String(error));
      const isRace = [Absent, Conflict, ChangedMeanwhile].some((kind) => error instanceof kind);
      const count = (known?.count ?? 0) + 1;
      const untilMs = performance.now() + (isRace ? 0 : pauseMs(count));
      this.#failures.set(uid, { message: cause.message, count, untilMs });
      if (!isRace && known?.message !== cause.message) {
        this.#listener.failed?.(this.#spec.name, `${namespace}/${name}`, cause);
      }
    }
  }

  #instances(): readonly FrontObject[] {
    return this.#served.flatMap(({ front, board }) =>
      front instanceof InstanceFront ? board.objects : [],
    );
  }

  /** Deletes an instance whose time is over. */
  async #expired(object: FrontObject): Promise<boolean> {
    const served = this.#served.find(({ board, front }) => {
      return front instanceof InstanceFront && board.has(object.metadata.uid ?? "");
    });
    if (served === undefined || object.metadata.deletionTimestamp !== undefined) return false;
    const at = this.#quotas.deletedAtMs(object);
    // By the clock that has written when it was made: ours may be hours ahead.
    const { clock } = await this.#hub.connected();
    if (at === undefined || at > clock.atLeastMs()) return false;
    await this.#hub.remove(served.front.kind, object, { signal: this.#stop.signal });
    return true;
  }

  /** Requests are kept alive whatever the API server says; only an object that is gone ends its request. */
  async #beats(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for (const owner of await this.#requests.beat()) {
          const served = this.#served.find(({ front }) => front.kind.kind === owner.kind);
          if (served === undefined || !served.board.isComplete || served.board.has(owner.uid))
            continue;
          await this.#requests.end(owner, await this.#requests.find(owner));
        }
      } catch {
        // The journal cannot be written: the server says so, and leases do not end meanwhile.
      }
      await pause(frontLimits.beatEveryMs, signal).catch(() => {});
    }
  }

  /** Also remembers what each costs, for the quotas. */
  async #wanted(): Promise<readonly PublishedTemplate[]> {
    const wanted: PublishedTemplate[] = [];
    for (const [name, pool] of this.#spec.clusterTemplates) {
      const template = await this.#parts.templateOf(pool);
      if (template === undefined) continue;
      const { cost, parameters } = template;
      const schema = { type: "object", properties: parameters, additionalProperties: false };
      this.#quotas.setCost(name, cost);
      wanted.push({ name, cost, schema });
    }
    return wanted;
  }

  async #publish(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const publisher = { front: this.#spec.name, installation: this.#parts.installation };
        const wanted = await this.#wanted();
        this.#published = await publishTemplates(this.#hub, publisher, wanted, signal);
        this.#tellTaken();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#down(error instanceof Error ? error : new Error(String(error)));
        failures += 1;
      } finally {
        this.#looked.resolve();
      }
      const restMs = failures === 0 ? frontLimits.recheckMs : pauseMs(failures);
      await pause(restMs, signal).catch(() => {});
    }
  }
}

function frontsOf(spec: FrontSpec): readonly FrontKind[] {
  const { clusterTemplates, spaceRequests, namespaceClaims } = spec;
  return [
    ...(clusterTemplates.size > 0 ? [new InstanceFront(clusterTemplates)] : []),
    ...(spaceRequests.size > 0 ? [new SpaceRequestFront(spaceRequests)] : []),
    ...(namespaceClaims === undefined ? [] : [new NamespaceClaimFront(namespaceClaims)]),
  ];
}

function byAge({ metadata: one }: FrontObject, { metadata: other }: FrontObject): number {
  const [a, b] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  if (a !== b) return a < b ? -1 : 1;
  return (one.uid ?? "") < (other.uid ?? "") ? -1 : 1;
}
