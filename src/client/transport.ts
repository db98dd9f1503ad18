import { Problem } from "../api/problem.ts";
import { formatDuration } from "../core/model/duration.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { LinkedAbort } from "./linked-abort.ts";

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

/** One HTTP exchange: an answer, a Problem, or BerthUnreachable. It never tries twice. */
export class Transport {
  /** Without a slash at the end. */
  readonly url: string;
  readonly #fetch: typeof fetch;

  constructor(url: string, fetchWith: typeof fetch) {
    this.url = checkedAddress(url);
    // Browsers refuse theirs when it is called as a method of anything but the window.
    this.#fetch = (input, init) => fetchWith(input, init);
  }

  async send(call: Call): Promise<Reply> {
    const answerMs = call.answerMs ?? clientLimits.answerMs;
    const stopped = call.signal;
    const late = new LinkedAbort(stopped);
    const timer = setTimeout(() => late.abort(), answerMs);
    try {
      const response = await this.open(call, late.signal);
      const text = await response.text();
      return replyOf(response, text);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (stopped?.aborted) throw stopped.reason;
      const state = late.signal.aborted
        ? `no answer within ${formatDuration(answerMs)}`
        : whyUnreachable(error);
      throw new BerthUnreachable(this.url, state, error);
    } finally {
      clearTimeout(timer);
      late.letGo();
    }
  }

  /** The response as it comes, for the feed; `fetch`'s own errors. */
  open(call: Call, signal: AbortSignal, headers?: Record<string, string>): Promise<Response> {
    const { method, token } = call;
    return this.#fetch(this.#address(call), {
      method,
      signal,
      headers: {
        accept: "application/json, application/problem+json",
        ...(call.body === undefined ? undefined : { "content-type": "application/json" }),
        ...(token === undefined ? undefined : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(call.body === undefined ? undefined : { body: JSON.stringify(call.body) }),
    });
  }

  #address({ path, query }: Call): string {
    const address = new URL(`${this.url}/${path.map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    return address.href;
  }
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
    return undefined; // A page of some proxy, as a rule; `Problem.from` says so.
  }
}

/** Throws a TypeError unless it is an http(s) address without credentials. */
export function checkedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fits = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !fits) {
    throw new TypeError(`Cannot use "${text}" as the server's address: it is no http(s) URL`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("Cannot use the server's address: it holds a user name or a password");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

const wordsByCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "its name cannot be looked up now",
  ETIMEDOUT: "no answer to the connection",
  UND_ERR_CONNECT_TIMEOUT: "no answer to the connection",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
};

/** `fetch failed` says nothing; the reason is in its cause, or in that of several addresses. */
export function whyUnreachable(error: unknown): string {
  if (!(error instanceof Error)) return "the call failed";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const words = wordsByCode[code];
  if (words !== undefined) return words;
  if (error instanceof AggregateError) return whyUnreachable(error.errors[0]);
  return error.cause instanceof Error ? whyUnreachable(error.cause) : error.message;
}
