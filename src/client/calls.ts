import type {
  EstimateAccuracy,
  HistoryEntry,
  SimulateBody,
  Simulation,
  SimulationProgress,
  Stats,
} from "../api/history-schemas.ts";
import type {
  AskBody,
  ConfigStatus,
  Explanation,
  Heartbeat,
  Lease,
  PageOf,
  PinBody,
  Pool,
  RateHistory,
  RefreshBody,
  Resource,
  ResourcePatch,
  SearchResult,
  Trends,
  WaitingRequest,
  Whoami,
} from "../api/schemas.ts";
import { formatDuration } from "../core/model/duration.ts";
import { clientLimits } from "./limits.ts";
import { type Call, Transport } from "./transport.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for an answer; not answered in time is `BerthUnreachable`. */
  readonly answerMs?: number | undefined;
}

export interface Filter {
  readonly pool?: string | undefined;
  readonly holder?: string | undefined;
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface ResourceFilter extends Omit<Filter, "holder"> {
  readonly state?: string | undefined;
  /** Only these, with commas between them. */
  readonly names?: string | undefined;
}

export interface GiveBack {
  readonly claim?: string | undefined;
  /** The state that its resources go to, instead of what the pool's policy says. */
  readonly state?: string | undefined;
  /** It was to be cleaned, and this went wrong. */
  readonly failure?: string | undefined;
  /** How its provider took it, with what it said. */
  readonly throttled?: boolean | undefined;
  readonly evidence?: string | undefined;
}

export interface PastFilter extends Filter {
  readonly resource?: string | undefined;
  readonly how?: string | undefined;
  readonly id?: string | undefined;
  /** RFC 3339, or how long ago, such as `2h`; as in `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface StatsWindow {
  readonly pool?: string | undefined;
  /** Durations; a day, and a 24th of the window, unless given. */
  readonly window?: string | undefined;
  readonly step?: string | undefined;
  readonly until?: string | undefined;
}

/** Whether the cloud behind a pool has throttled its holder, and how that was noticed. */
export interface Signal {
  readonly throttled: boolean;
  readonly pool?: string | undefined;
  readonly evidence?: string | undefined;
}

/** Names one lease (or the request that it was) and proves that it is yours. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

export type Granted = { readonly granted: true; readonly lease: Lease };
export type Waiting = { readonly granted: false; readonly request: WaitingRequest };

/** One method for each call of the API, one exchange for each method; nothing is tried twice. */
export class BerthCalls {
  protected readonly transport: Transport;

  constructor(options: { readonly url: string; readonly fetch?: typeof fetch }) {
    this.transport = new Transport(options.url, options.fetch ?? globalThis.fetch);
  }

  get url(): string {
    return this.transport.url;
  }

  async ask(body: AskBody, options?: CallOptions): Promise<Granted | Waiting> {
    const call: Call = { method: "POST", path: ["v1", "leases"], body, ...options };
    return this.#fate(call);
  }

  /** The lease comes without its token, which `ask` has told. */
  async request(
    { id, token }: Held,
    { waitMs = 0, ...options }: CallOptions & { readonly waitMs?: number } = {},
  ): Promise<Granted | Waiting> {
    const query = waitMs > 0 ? { wait: formatDuration(waitMs) } : {};
    const answerMs = options.answerMs ?? waitMs + clientLimits.pollSlackMs;
    const path = ["v1", "requests", id];
    return this.#fate({ method: "GET", path, query, token, ...options, answerMs });
  }

  requests(filter: Filter = {}, options?: CallOptions): Promise<PageOf<WaitingRequest>> {
    return this.#get(["v1", "requests"], { ...options, query: { ...filter } });
  }

  leave({ id, token }: Held, options?: CallOptions): Promise<void> {
    return this.#done({ method: "DELETE", path: ["v1", "requests", id], token, ...options });
  }

  leases(filter: Filter = {}, options?: CallOptions): Promise<PageOf<Lease>> {
    return this.#get(["v1", "leases"], { ...options, query: { ...filter } });
  }

  lease(id: string, options?: CallOptions & { readonly token?: string }): Promise<Lease> {
    return this.#get(["v1", "leases", id], { ...options });
  }

  heartbeat({ id, token }: Held, options?: CallOptions): Promise<Heartbeat> {
    const path = ["v1", "leases", id, "heartbeat"];
    return this.#json({ method: "POST", path, token, ...options });
  }

  /** What the holder has to say of how it fares, for pools that adapt to it. */
  signal({ id, token }: Held, body: Signal, options?: CallOptions): Promise<void> {
    const path = ["v1", "leases", id, "signal"];
    return this.#done({ method: "POST", path, body, token, ...options });
  }

  /** Gives back all of it, or one claim. `state` overrides what the pool's policy says. */
  giveBack({ id, token }: Held, how: GiveBack = {}, options?: CallOptions): Promise<void> {
    const whole = ["v1", "leases", id];
    const path = how.claim === undefined ? whole : [...whole, "claims", how.claim];
    const { failure, throttled, evidence } = how;
    const told = failure !== undefined || throttled !== undefined;
    const body = told ? { failure, throttled, evidence } : undefined;
    const query = { state: how.state };
    return this.#done({ method: "DELETE", path, query, body, token, ...options });
  }

  /** Gives back and asks for the same again, behind all who wait. It becomes another lease. */
  askAgain(
    { id, token }: Held,
    body: RefreshBody = {},
    options?: CallOptions,
  ): Promise<Granted | Waiting> {
    const path = ["v1", "leases", id, "refresh"];
    return this.#fate({ method: "POST", path, body, token, ...options });
  }

  /** For operators: holds a pool's start rate. */
  pin(pool: string, body: PinBody, options?: CallOptions): Promise<Pool> {
    return this.#json({ method: "PUT", path: ["v1", "pools", pool, "pin"], body, ...options });
  }

  unpin(pool: string, why: { readonly reason?: string; readonly by: string }): Promise<Pool> {
    const path = ["v1", "pools", pool, "pin"];
    return this.#json({ method: "DELETE", path, query: { ...why } });
  }

  limitHistory(pool: string, options?: CallOptions): Promise<RateHistory> {
    return this.#get(["v1", "pools", pool, "limit-history"], { ...options });
  }

  /** For operators: ends somebody's lease without its token. */
  revoke(id: string, why: { readonly reason: string; readonly by: string }): Promise<void> {
    const query = { force: true, ...why };
    return this.#done({ method: "DELETE", path: ["v1", "leases", id], query });
  }

  pools(page: Pick<Filter, "limit" | "after"> = {}, options?: CallOptions): Promise<PageOf<Pool>> {
    return this.#get(["v1", "pools"], { ...options, query: { ...page } });
  }

  pool(name: string, options?: CallOptions): Promise<Pool> {
    return this.#get(["v1", "pools", name], { ...options });
  }

  resources(filter: ResourceFilter = {}, options?: CallOptions): Promise<PageOf<Resource>> {
    return this.#get(["v1", "resources"], { ...options, query: { ...filter } });
  }

  resource(name: string, options?: CallOptions): Promise<Resource> {
    return this.#get(["v1", "resources", name], { ...options });
  }

  changeResource(name: string, body: ResourcePatch, options?: CallOptions): Promise<Resource> {
    return this.#json({ method: "PATCH", path: ["v1", "resources", name], body, ...options });
  }

  explain(id: string, options?: CallOptions): Promise<Explanation> {
    return this.#get(["v1", "explain", id], { ...options });
  }

  /** Past requests and leases, the latest first. */
  history(filter: PastFilter = {}, options?: CallOptions): Promise<PageOf<HistoryEntry>> {
    return this.#get(["v1", "history"], { ...options, query: { ...filter } });
  }

  stats(window: StatsWindow = {}, options?: CallOptions): Promise<Stats> {
    return this.#get(["v1", "stats"], { ...options, query: { ...window } });
  }

  estimates(options?: CallOptions): Promise<EstimateAccuracy> {
    return this.#get(["v1", "estimates"], { ...options });
  }

  /** Aborted, the server gives it up as well. */
  simulate(body: SimulateBody, options?: CallOptions): Promise<Simulation> {
    const answerMs = options?.answerMs ?? clientLimits.simulationMs;
    return this.#json({ method: "POST", path: ["v1", "simulate"], body, ...options, answerMs });
  }

  simulationProgress(options?: CallOptions): Promise<SimulationProgress> {
    return this.#get(["v1", "simulate"], { ...options });
  }

  config(options?: CallOptions): Promise<ConfigStatus> {
    return this.#get(["v1", "config"], { ...options });
  }

  /** For operators: takes somebody out of the queue without a token. */
  expel(id: string, why: { readonly reason: string; readonly by: string }): Promise<void> {
    const query = { force: true, ...why };
    return this.#done({ method: "DELETE", path: ["v1", "requests", id], query });
  }

  /** What the caller may do, and what the server's clock says. */
  whoami(options?: CallOptions): Promise<Whoami> {
    return this.#get(["v1", "whoami"], { ...options });
  }

  /** The last half hour of every pool. */
  trends(options?: CallOptions): Promise<Trends> {
    return this.#get(["v1", "trends"], { ...options });
  }

  /** Across everything that is there now. */
  search(q: string, options?: CallOptions): Promise<SearchResult> {
    return this.#get(["v1", "search"], { ...options, query: { q } });
  }

  async #fate(call: Call): Promise<Granted | Waiting> {
    const { status, body } = await this.transport.send(call);
    if (status === 202) return { granted: false, request: body as WaitingRequest };
    return { granted: true, lease: body as Lease };
  }

  #get<T>(path: readonly string[], rest: Omit<Call, "method" | "path">): Promise<T> {
    return this.#json({ method: "GET", path, ...rest });
  }

  /** A server of this API keeps its schemas, so the shape is taken on trust here, once. */
  async #json<T>(call: Call): Promise<T> {
    return (await this.transport.send(call)).body as T;
  }

  async #done(call: Call): Promise<void> {
    await this.transport.send(call);
  }
}
