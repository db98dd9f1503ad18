import { readFile } from "node:fs/promises";
import type { KubeConfig, RequestContext, ResponseContext } from "@kubernetes/client-node";
import { Problem } from "../api/problem.ts";
import type { BerthUnreachable } from "../client/errors.ts";
import { clientLimits } from "../client/limits.ts";
import { LinkedAbort, unlessAborted } from "../client/linked-abort.ts";
import { describeNetworkError } from "../client/network-errors.ts";
import { formatDuration } from "../core/model/time.ts";
import { boundedText } from "./bounded-text.ts";
import { ApiUnreachable, refusalOf } from "./errors.ts";
import { type Credential, ExecCredential } from "./exec-credential.ts";
import { loadKubeConfig, type Place } from "./kube-config.ts";
import { type KubePackage, loadKubePackage } from "./kube-package.ts";
import { ServerClock } from "./server-clock.ts";

type Connections = ReturnType<RequestContext["getDispatcher"]>;
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ApiCall {
  readonly method?: Method;
  /** Path segments, not yet escaped. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Of a PATCH: a JSON merge patch. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly answerMs?: number | undefined;
}

/**
 * Sends single requests to a Kubernetes API server. The result is an answer, a Problem or
 * ApiUnreachable; it never retries. The address and the credentials come from a kubeconfig or from
 * the pod that this process runs in.
 */
export class ApiServer {
  readonly clock = new ServerClock();
  readonly #package: KubePackage;
  readonly #config: KubeConfig;
  readonly #credential: ExecCredential | undefined;
  #connections: Connections;
  /** The credential that the connections belong to. */
  #connectedAs: Credential | undefined;

  private constructor(loaded: KubePackage, config: KubeConfig) {
    this.#package = loaded;
    this.#config = config;
    this.#credential = ExecCredential.of(config);
  }

  /** The Kubernetes package is large, so it is loaded only when it is needed, and only in part. */
  static async connect(place: Place = {}): Promise<ApiServer> {
    const loaded = await loadKubePackage();
    return new ApiServer(loaded, loadKubeConfig(new loaded.KubeConfig(), place));
  }

  get url(): string {
    return this.#config.getCurrentCluster()?.server ?? "";
  }

  /** How another account reaches the same server: its entry in `clusters` of a kubeconfig. */
  async address(): Promise<Readonly<Record<string, string | boolean>>> {
    const cluster = this.#config.getCurrentCluster();
    const file = cluster?.caFile;
    const ca = cluster?.caData ?? (file === undefined ? undefined : await readFile(file, "base64"));
    return {
      server: this.url,
      ...(ca && { "certificate-authority-data": ca }),
      ...(cluster?.skipTLSVerify && { "insecure-skip-tls-verify": true }),
      ...(cluster?.tlsServerName && { "tls-server-name": cluster.tlsServerName }),
    };
  }

  async call<Reply>(call: ApiCall): Promise<Reply> {
    const answerMs = call.answerMs ?? clientLimits.answerMs;
    const stopped = call.signal;
    const late = new LinkedAbort(stopped);
    const timer = setTimeout(() => late.abort(), answerMs);
    try {
      const response = await this.#send(call, late.signal);
      const text = await boundedText(response.body.stream());
      return this.#understood<Reply>(response, text);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (stopped?.aborted) throw stopped.reason;
      throw this.#unreachable(error, late.signal.aborted ? answerMs : undefined);
    } finally {
      clearTimeout(timer);
      late.unlink();
    }
  }

  /** Yields the lines of a watch until the server closes it or it is aborted. */
  async open(
    call: ApiCall & { readonly signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>> {
    try {
      const response = await this.#send(call, call.signal);
      const stream = response.body.stream();
      if (response.httpStatusCode === 200 && stream !== null) return stream;
      return this.#understood(response, await boundedText(response.body.stream()));
    } catch (error) {
      if (error instanceof Problem) throw error;
      call.signal.throwIfAborted();
      throw this.#unreachable(error);
    }
  }

  async #send(call: ApiCall, signal: AbortSignal): Promise<ResponseContext> {
    const { RequestContext, IsomorphicFetchHttpLibrary } = this.#package;
    const request = new RequestContext(this.#address(call), call.method ?? "GET");
    const as = await this.#credential?.current(signal);
    if (as !== this.#connectedAs) this.#connections = undefined;
    this.#connectedAs = as;
    await unlessAborted(this.#config.applySecurityAuthentication(request), signal);
    // The package opens new connections for every call. This keeps and reuses one set.
    this.#connections ??= onlyTo(new URL(this.url).origin, request.getDispatcher());
    if (this.#connections !== undefined) request.setDispatcher(this.#connections);
    request.setHeaderParam("accept", "application/json");
    request.setHeaderParam("user-agent", "berth");
    if (call.body !== undefined) {
      const type = call.method === "PATCH" ? "application/merge-patch+json" : "application/json";
      request.setHeaderParam("content-type", type);
      request.setBody(JSON.stringify(call.body));
    }
    request.setSignal(signal);
    const sentAtMs = performance.now();
    const response = await new IsomorphicFetchHttpLibrary().send(request).toPromise();
    this.clock.heard(response.headers["date"], sentAtMs, performance.now());
    if (response.httpStatusCode === 401) this.#refused(as);
    return response;
  }

  #address({ path, query }: ApiCall): string {
    const address = new URL(
      `${this.url.replace(/\/+$/, "")}/${path.map(encodeURIComponent).join("/")}`,
    );
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    return address.href;
  }

  #refused(as: Credential | undefined): void {
    this.#connections = undefined; // The next connection may need a new client certificate.
    if (as !== undefined) this.#credential?.forget(as);
  }

  #understood<Reply>({ httpStatusCode, headers }: ResponseContext, text: string): Reply {
    const body = parsed(text);
    if (httpStatusCode >= 200 && httpStatusCode < 300 && body !== undefined) return body as Reply;
    throw refusalOf(httpStatusCode, body, Number(headers["retry-after"] ?? Number.NaN));
  }

  #unreachable(error: unknown, answerMs?: number): BerthUnreachable {
    this.#connections = undefined;
    const late =
      answerMs === undefined ? undefined : `no answer within ${formatDuration(answerMs)}`;
    return new ApiUnreachable(this.url, late ?? describeNetworkError(error), error);
  }
}

/**
 * Refuses to follow a redirect to another server: a call may contain the token of a caller.
 *
 * Keeps calls to HTTP/1.1. Over HTTP/2, undici 8 closes an idle connection with an error, and a watch
 * that was aborted before may still be part of it, without a listener for the error: the process would
 * end, and with it a server that mirrors its leases.
 */
function onlyTo(origin: string, connections: Connections): Connections {
  return connections?.compose((dispatch) => (options, handler) => {
    const to = new URL(String(options.origin)).origin;
    if (to !== origin) throw new Error(`it redirects to another server, ${to}`);
    const http1Only = { ...options, allowH2: false };
    return dispatch(http1Only, handler);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Usually an HTML page of a proxy.
  }
}
