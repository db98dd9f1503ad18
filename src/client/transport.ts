import { Problem } from "../api/problem.ts";
import { formatDuration } from "../core/model/time.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { LinkedAbort } from "./linked-abort.ts";
import { unreachable } from "./network-errors.ts";
import { pause } from "./pause.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path segments, not yet escaped. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly answerMs?: number | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Reads the caller's own token before each call. The token of a lease goes before it. */
export type Credentials = () => string | undefined | Promise<string | undefined>;

/**
 * Sends one HTTP request. Returns the reply, or throws a Problem or BerthUnreachable. It tries again
 * only if the server asks for fewer calls: then nothing has happened, and it says when to come back.
 */
export class Transport {
  /** Without a slash at the end. */
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #credentials: Credentials | undefined;
  readonly #userAgent: string | undefined;

  constructor(
    url: string,
    fetchWith: typeof fetch,
    {
      credentials,
      userAgent,
    }: { credentials?: Credentials | undefined; userAgent?: string | undefined } = {},
  ) {
    this.#userAgent = userAgent;
    this.url = parseServerUrl(url);
    this.#credentials = credentials;
    // A browser's `fetch` throws if it is called as a method of another object than `window`.
    this.#fetch = (input, init) => fetchWith(input, init);
  }

  async send(call: Call): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#sendOnce(call);
      } catch (error) {
        const waitMs = tries < floodTriesMax ? floodWaitMs(error) : undefined;
        if (waitMs === undefined) throw error;
        await pause(waitMs, call.signal);
      }
    }
  }

  async #sendOnce(call: Call): Promise<Reply> {
    // Not below: an unreadable token is no failure of the network.
    const token = await this.#tokenFor(call);
    const answerMs = call.answerMs ?? clientLimits.answerMs;
    const stopped = call.signal;
    const late = new LinkedAbort(stopped);
    const timer = setTimeout(() => late.abort(), answerMs);
    try {
      const response = await this.open({ ...call, token }, late.signal);
      const text = await response.text();
      return replyOf(response, text);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (stopped?.aborted) throw stopped.reason;
      if (!late.signal.aborted) throw unreachable(this.url, error);
      const state = `no answer within ${formatDuration(answerMs)}`;
      throw new BerthUnreachable(this.url, state, error);
    } finally {
      clearTimeout(timer);
      late.unlink();
    }
  }

  /** Returns the raw response, for the event feed. Throws the errors of `fetch`. */
  async open(call: Call, signal: AbortSignal, headers?: Record<string, string>): Promise<Response> {
    const { method } = call;
    const token = await this.#tokenFor(call);
    return this.#fetch(this.#address(call), {
      method,
      signal,
      headers: {
        accept: "application/json, application/problem+json",
        ...(call.body === undefined ? undefined : { "content-type": "application/json" }),
        ...(token === undefined ? undefined : { authorization: `Bearer ${token}` }),
        ...(this.#userAgent === undefined ? undefined : { "user-agent": this.#userAgent }),
        ...headers,
      },
      ...(call.body === undefined ? undefined : { body: JSON.stringify(call.body) }),
    });
  }

  /** An empty token is none: who only reads has no token of the lease. */
  #tokenFor({ token }: Call): Promise<string | undefined> | string | undefined {
    return token === undefined || token === "" ? this.#credentials?.() : token;
  }

  #address({ path, query }: Call): string {
    const address = new URL(`${this.url}/${path.map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    return address.href;
  }
}

const floodTriesMax = 4;

/** How long to wait if this caller has sent too many calls. A longer wait is for people to decide. */
function floodWaitMs(error: unknown): number | undefined {
  if (!(error instanceof Problem) || error.code !== "too_many_requests") return undefined;
  const waitMs = Number(error.facts["retryAfterSeconds"]) * 1_000;
  return waitMs <= clientLimits.pauseMsMax ? waitMs : undefined;
}

function replyOf(response: Response, text: string): Reply {
  const { status, ok } = response;
  const body = parsed(text);
  if (ok && (status === 204 || body !== undefined)) return { status, body };
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const known = typeof body === "object" && body !== null && Number.isFinite(seconds);
  throw Problem.from(status, known ? { ...body, retryAfterSeconds: seconds } : body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Usually an HTML page of a proxy; `Problem.from` reports it.
  }
}

/** Throws a TypeError unless it is an http(s) address without credentials. */
export function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !fits) {
    throw new TypeError(`Cannot use "${text}" as the server's address: it is not an http(s) URL`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("Cannot use the server's address: it contains a user name or password");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
