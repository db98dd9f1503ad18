import type { Attention } from "../api/attention-schemas.ts";
import type { AuditPage } from "../api/audit-schemas.ts";
import type {
  CompareBody,
  EstimateAccuracy,
  HistoryEntry,
  PoolStats,
  SimulateBody,
  SimulatedVariants,
  Simulation,
  SimulationProgress,
  Stats,
} from "../api/history-schemas.ts";
import type { PoolChanges } from "../api/pool-changes-schema.ts";
import type { Replicas } from "../api/replica-schemas.ts";
import type {
  AskBody,
  BumpBody,
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
  SearchHit,
  SearchResult,
  SignedOut,
  SignInOffer,
  SignInStarted,
  Trends,
  WaitingRequest,
  Whoami,
} from "../api/schemas.ts";
import type { Space } from "../api/space-schemas.ts";
import { formatDuration } from "../core/model/time.ts";
import { ClusterCalls } from "./cluster-calls.ts";
import type { FeedEvent } from "./event-feed.ts";
import { HubCalls } from "./hub-calls.ts";
import { clientLimits } from "./limits.ts";
import { hasEnded } from "./release.ts";
import { type Call, type Credentials, Transport } from "./transport.ts";

export interface SearchOptions extends CallOptions {
  readonly kind?: SearchHit["kind"];
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Timeout of the call; without a response in time it throws `BerthUnreachable`. */
  readonly answerMs?: number | undefined;
}

export interface Filter {
  readonly pool?: string | undefined;
  readonly holder?: string | undefined;
  readonly limit?: number | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
}

export interface ResourceFilter extends Omit<Filter, "holder"> {
  readonly state?: string | undefined;
  /** Only these resources, comma-separated. */
  readonly names?: string | undefined;
}

export interface ReleaseDetails {
  readonly claim?: string | undefined;
  /** The new state of the resources, instead of the state in the pool's policy. */
  readonly state?: string | undefined;
  /** The error message of a failed cleaning. */
  readonly failure?: string | undefined;
  /** Whether the provider throttled the holder; `evidence` is the provider's message. */
  readonly throttled?: boolean | undefined;
  readonly evidence?: string | undefined;
}

export interface HistoryFilter extends Filter {
  /** In the holder, pool, resource or space, in any case. */
  readonly text?: string | undefined;
  readonly resource?: string | undefined;
  readonly how?: string | undefined;
  readonly id?: string | undefined;
  /** Default: `use`, or `all` if an id is given. */
  readonly purpose?: "use" | "clean" | "all" | undefined;
  /** RFC 3339, or an age such as `2h`; the same for `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface AuditFilter extends Pick<Filter, "limit" | "after"> {
  /** The whole name, proven or given. */
  readonly by?: string | undefined;
  /** Anywhere in the names of the caller or its space. */
  readonly caller?: string | undefined;
  readonly space?: string | undefined;
  readonly action?: string | undefined;
  /** Only what somebody decided, and what was refused. */
  readonly kind?: "decisions" | undefined;
  readonly way?: string | undefined;
  readonly pool?: string | undefined;
  readonly resource?: string | undefined;
  readonly lease?: string | undefined;
  readonly text?: string | undefined;
  /** RFC 3339, or an age such as `2h`; the same for `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Default: `newest`. */
  readonly order?: "newest" | "oldest" | undefined;
}

export interface EventFilter extends Pick<Filter, "limit" | "after"> {
  /** Of a request, or of the lease that it became. */
  readonly id?: string | undefined;
  readonly resource?: string | undefined;
  /** A type, or how it begins: `lease-`. */
  readonly type?: string | undefined;
  /** Only what somebody should look at. */
  readonly trouble?: "true" | undefined;
  readonly pool?: string | undefined;
  readonly space?: string | undefined;
  /** Anywhere in names, states and reasons. */
  readonly text?: string | undefined;
  /** RFC 3339, or an age such as `2h`; the same for `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface StatsWindow {
  readonly pool?: string | undefined;
  /** Durations. Default: a day, and a 24th of the window. */
  readonly window?: string | undefined;
  readonly step?: string | undefined;
  readonly until?: string | undefined;
}

/** A holder's report whether the cloud provider of a pool throttled it. */
export interface ProviderReport {
  readonly throttled: boolean;
  readonly pool?: string | undefined;
  readonly evidence?: string | undefined;
}

/** The id of a lease or request, and the token that proves its ownership. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

export type Granted = { readonly granted: true; readonly lease: Lease };
export type Waiting = { readonly granted: false; readonly request: WaitingRequest };

export interface ClientOptions {
  /** The server's address, such as `http://127.0.0.1:8080`. It may contain a path before `/v1`. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  /** The caller's own token, for a server with authentication. A function is called before each call. */
  readonly token?: string | Credentials | undefined;
  /** The User-Agent header. A browser may not let a page change it. */
  readonly userAgent?: string;
}

/** One method per API call. Each method sends one HTTP request and never retries. */
export class BerthCalls {
  protected readonly transport: Transport;
  /** Templates, clusters, access to them, credentials and costs. */
  readonly clusters: ClusterCalls;
  /** Where clusters are made. */
  readonly hubs: HubCalls;

  constructor({ url, fetch = globalThis.fetch, token, userAgent }: ClientOptions) {
    const credentials = typeof token === "string" ? () => token : token;
    this.transport = new Transport(url, fetch, { credentials, userAgent });
    this.clusters = new ClusterCalls(this.transport);
    this.hubs = new HubCalls(this.transport);
  }

  get url(): string {
    return this.transport.url;
  }

  async ask(body: AskBody, options?: CallOptions): Promise<Granted | Waiting> {
    const call: Call = { method: "POST", path: ["v1", "leases"], body, ...options };
    return this.#grantOrQueue(call);
  }

  /** Polls a request. A granted lease has no token here; `ask` has returned it. */
  async request(
    { id, token }: Held,
    { waitMs = 0, ...options }: CallOptions & { readonly waitMs?: number } = {},
  ): Promise<Granted | Waiting> {
    const query = waitMs > 0 ? { wait: formatDuration(waitMs) } : {};
    const answerMs = options.answerMs ?? waitMs + clientLimits.pollSlackMs;
    const path = ["v1", "requests", id];
    return this.#grantOrQueue({ method: "GET", path, query, token, ...options, answerMs });
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

  /**
   * Resolves with true when the lease has ended or was revoked, with "noticed" if its pool takes it
   * back, or with false after `waitMs`. With `noticed` the caller knows of that already.
   */
  async isLostWithin(
    waitMs: number,
    { id }: Held,
    { noticed = false, ...options }: CallOptions & { readonly noticed?: boolean } = {},
  ): Promise<boolean | "noticed"> {
    const answerMs = options.answerMs ?? waitMs + clientLimits.pollSlackMs;
    const query = { wait: formatDuration(waitMs), ...(noticed ? { noticed: "true" } : undefined) };
    try {
      const call = { ...options, query, answerMs };
      const { revokedAt, notice } = await this.#get<Lease>(["v1", "leases", id], call);
      return typeof revokedAt === "string" || (notice === undefined ? false : "noticed");
    } catch (error) {
      if (hasEnded(error)) return true;
      throw error;
    }
  }

  heartbeat({ id, token }: Held, options?: CallOptions): Promise<Heartbeat> {
    const path = ["v1", "leases", id, "heartbeat"];
    return this.#json({ method: "POST", path, token, ...options });
  }

  /** Sends a provider report, for pools with an adaptive start rate. */
  signal({ id, token }: Held, body: ProviderReport, options?: CallOptions): Promise<void> {
    const path = ["v1", "leases", id, "signal"];
    return this.#done({ method: "POST", path, body, token, ...options });
  }

  /** Releases the lease or one claim, without a retry. `state` overrides the pool's policy. */
  releaseOnce({ id, token }: Held, how: ReleaseDetails = {}, options?: CallOptions): Promise<void> {
    const whole = ["v1", "leases", id];
    const path = how.claim === undefined ? whole : [...whole, "claims", how.claim];
    const { failure, throttled, evidence } = how;
    const hasReport = failure !== undefined || throttled !== undefined;
    const body = hasReport ? { failure, throttled, evidence } : undefined;
    const query = { state: how.state };
    return this.#done({ method: "DELETE", path, query, body, token, ...options });
  }

  /** Releases the lease and requests the same again, at the end of the queue, as a new lease. */
  askAgain(
    { id, token }: Held,
    body: RefreshBody = {},
    options?: CallOptions,
  ): Promise<Granted | Waiting> {
    const path = ["v1", "leases", id, "refresh"];
    return this.#grantOrQueue({ method: "POST", path, body, token, ...options });
  }

  /** For operators: changes the priority of a waiting request. */
  bump(id: string, body: BumpBody, options?: CallOptions): Promise<WaitingRequest> {
    const path = ["v1", "requests", id, "priority"];
    return this.#json({ method: "PUT", path, body, ...options });
  }

  /** For operators: fixes a pool's start rate. */
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

  /**
   * For operators: ends any lease without its token. With `gone` its resources do not wait for the
   * holder: only for one that is known to have stopped.
   */
  revoke(
    id: string,
    why: { readonly reason: string; readonly by: string; readonly gone?: true },
  ): Promise<void> {
    const query = { force: true, ...why };
    return this.#done({ method: "DELETE", path: ["v1", "leases", id], query });
  }

  pools(page: Pick<Filter, "limit" | "after"> = {}, options?: CallOptions): Promise<PageOf<Pool>> {
    return this.#get(["v1", "pools"], { ...options, query: { ...page } });
  }

  spaces(
    page: Pick<Filter, "limit" | "after"> = {},
    options?: CallOptions,
  ): Promise<PageOf<Space>> {
    return this.#get(["v1", "spaces"], { ...options, query: { ...page } });
  }

  /** What has changed since the answer with this cursor; all pools without one. */
  poolChanges(after?: string, options?: CallOptions): Promise<PoolChanges> {
    return this.#get(["v1", "pool-changes"], { ...options, query: { after } });
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
  history(filter: HistoryFilter = {}, options?: CallOptions): Promise<PageOf<HistoryEntry>> {
    return this.#get(["v1", "history"], { ...options, query: { ...filter } });
  }

  /** Who did what, the latest first; only for operators. */
  audit(filter: AuditFilter = {}, options?: CallOptions): Promise<AuditPage> {
    return this.#get(["v1", "audit"], { ...options, query: { ...filter } });
  }

  /** All events or those that match, the latest first. */
  pastEvents(filter: EventFilter = {}, options?: CallOptions): Promise<PageOf<FeedEvent>> {
    return this.#get(["v1", "events", "past"], { ...options, query: { ...filter } });
  }

  stats(window: StatsWindow = {}, options?: CallOptions): Promise<Stats> {
    return this.#get(["v1", "stats"], { ...options, query: { ...window } });
  }

  /** The same for each pool, the one whose claims waited longest in all first. */
  poolStats(
    window: Pick<StatsWindow, "window" | "until"> = {},
    options?: CallOptions,
  ): Promise<PoolStats> {
    return this.#get(["v1", "stats", "pools"], { ...options, query: { ...window } });
  }

  estimates(options?: CallOptions): Promise<EstimateAccuracy> {
    return this.#get(["v1", "estimates"], { ...options });
  }

  /** If the call is aborted, the server stops the simulation. */
  simulate(body: SimulateBody, options?: CallOptions): Promise<Simulation> {
    const answerMs = options?.answerMs ?? clientLimits.simulationMs;
    return this.#json({ method: "POST", path: ["v1", "simulate"], body, ...options, answerMs });
  }

  /** Simulates several variants of a pool. If the call is aborted, the server stops. */
  compareVariants(body: CompareBody, options?: CallOptions): Promise<SimulatedVariants> {
    const answerMs = options?.answerMs ?? clientLimits.simulationMs;
    const path = ["v1", "simulate", "compare"];
    return this.#json({ method: "POST", path, body, ...options, answerMs });
  }

  simulationProgress(options?: CallOptions): Promise<SimulationProgress> {
    return this.#get(["v1", "simulate"], { ...options });
  }

  /** What needs a person now; empty if all is well. */
  attention(options?: CallOptions): Promise<Attention> {
    return this.#get(["v1", "attention"], { ...options });
  }

  /** The servers on the same journal: who leads, and how far each follows. */
  replicas(options?: CallOptions): Promise<Replicas> {
    return this.#get(["v1", "replicas"], { ...options });
  }

  config(options?: CallOptions): Promise<ConfigStatus> {
    return this.#get(["v1", "config"], { ...options });
  }

  /** For operators: removes any request from the queue without its token. */
  removeFromQueue(
    id: string,
    why: { readonly reason: string; readonly by: string },
  ): Promise<void> {
    const query = { force: true, ...why };
    return this.#done({ method: "DELETE", path: ["v1", "requests", id], query });
  }

  /** Only for the page: the browser gets a cookie. */
  signIn(token: string, options?: CallOptions): Promise<Whoami> {
    const call = { method: "POST", path: ["v1", "session"], body: { token } } as const;
    return this.#json({ ...call, ...options });
  }

  signOut(options?: CallOptions): Promise<SignedOut> {
    return this.#json({ method: "DELETE", path: ["v1", "session"], ...options });
  }

  /** Through which issuers people sign in, to the page and with `berth login`. */
  signInOffer(options?: CallOptions): Promise<SignInOffer> {
    return this.#get(["v1", "sign-in"], { ...options });
  }

  /** Only for the page: it then sends the browser to `location`. */
  startSignIn(issuer: string, options?: CallOptions): Promise<SignInStarted> {
    return this.#json({ method: "POST", path: ["v1", "sign-in"], body: { issuer }, ...options });
  }

  /** Only for the page: the browser gets a cookie. */
  finishSignIn(transaction: string, answer: string, options?: CallOptions): Promise<Whoami> {
    const body = { transaction, answer };
    return this.#json({ method: "POST", path: ["v1", "sign-in", "finish"], body, ...options });
  }

  /** Returns the caller's rights and the server's time. */
  whoami(options?: CallOptions): Promise<Whoami> {
    return this.#get(["v1", "whoami"], { ...options });
  }

  /** The last half hour of every pool. */
  trends(options?: CallOptions): Promise<Trends> {
    return this.#get(["v1", "trends"], { ...options });
  }

  /** Searches pools, resources, leases and requests; with a kind, lists more of these alone. */
  search(q: string, options?: SearchOptions): Promise<SearchResult> {
    const { kind, ...rest } = options ?? {};
    return this.#get(["v1", "search"], { ...rest, query: { q, ...(kind && { kind }) } });
  }

  async #grantOrQueue(call: Call): Promise<Granted | Waiting> {
    const { status, body } = await this.transport.send(call);
    if (status === 202) return { granted: false, request: body as WaitingRequest };
    return { granted: true, lease: body as Lease };
  }

  #get<T>(path: readonly string[], rest: Omit<Call, "method" | "path">): Promise<T> {
    return this.#json({ method: "GET", path, ...rest });
  }

  /** Trusts the server to send what its schemas say. This is the only place with such a cast. */
  async #json<T>(call: Call): Promise<T> {
    return (await this.transport.send(call)).body as T;
  }

  async #done(call: Call): Promise<void> {
    await this.transport.send(call);
  }
}
