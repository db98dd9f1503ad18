/**
 * The lease proxy API for one job, on loopback. The leases that it acquires belong to the job, so its
 * address contains a secret: other users of the machine and pages in a browser can reach the port.
 * Clients append paths to the address that they are given, so the secret is the start of the path.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  answerAcquire,
  answerRelease,
  formatNote,
  isStrict,
  type LeaseAnswer,
  type LeaseOperations,
  noLeaseClient,
  pageNotFound,
} from "../../api/lease-proxy.ts";
import { limits } from "../../api/limits.ts";
import type { JobLease } from "./job-lease.ts";
import { JobEnded, type JobLeases } from "./job-leases.ts";

/**
 * Longer than clients keep idle connections, so that the server closes none that they may reuse.
 */
const keepAliveTimeoutMs = 120_000;

/**
 * The number of remembered idempotency keys. A client that missed its answer may repeat its call.
 */
const keysMax = 1_000;

const secretBytes = 24;

const wrongSecret: LeaseAnswer = {
  status: 403,
  body: "the address lacks the secret of this job: use LEASE_PROXY_SERVER_URL as it is\n",
};

export class LeaseProxy {
  readonly #leases: JobLeases;
  readonly #server: Server;
  readonly #byKey = new Map<string, JobLease>();
  readonly #secret = randomBytes(secretBytes).toString("base64url");

  private constructor(leases: JobLeases) {
    this.#leases = leases;
    const options = { keepAliveTimeout: keepAliveTimeoutMs };
    this.#server = createServer(options, (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** Listens on loopback, on a free port. */
  static async start(leases: JobLeases): Promise<LeaseProxy> {
    const proxy = new LeaseProxy(leases);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${this.#secret}`;
  }

  /** Must be called after `JobLeases.close()`, which answers every waiting client. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("The client has disconnected")));
    const url = this.#withoutSecret(request.url ?? "");
    if (url === undefined) {
      // Nobody reads the body, so the connection cannot be used again.
      response.setHeader("connection", "close");
      return send(response, wrongSecret);
    }
    const body = await bodyOf(request);
    if (body === undefined) return send(response, { status: 413, body: "the body is too large\n" });
    try {
      send(response, await this.#answer(request, url, response, body, gone.signal));
    } catch (error) {
      if (gone.signal.aborted) return; // The client has disconnected.
      send(response, { status: 500, body: `berth has a bug: ${String(error)}\n` });
    }
  }

  /** The path and query after the secret, or undefined if the secret is wrong. */
  #withoutSecret(url: string): string | undefined {
    const [, given = "", rest = ""] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
    return isSame(given, this.#secret) ? rest : undefined;
  }

  async #answer(
    request: IncomingMessage,
    url: string,
    response: ServerResponse,
    body: string,
    signal: AbortSignal,
  ): Promise<LeaseAnswer> {
    const { method = "", headers } = request;
    const [path] = url.split("?");
    const call = { method, url, body, strict: isStrict(headers["prefer"]?.toString()) };
    const operations: LeaseOperations = {
      release: (name) => this.#leases.release(name),
      acquire: async (wanted) => {
        const key = headers["idempotency-key"]?.toString() ?? "";
        const known = key === "" ? undefined : this.#byKey.get(key);
        if (known !== undefined && known.names.length > 0) return known.names;
        const lease = await this.#leases.acquire(wanted, signal);
        if (key !== "") this.#remember(key, lease);
        this.#releaseIfUnanswered(response, lease);
        return lease.names;
      },
    };
    try {
      if (path === "/lease/acquire") return await answerAcquire(call, operations);
      if (path === "/lease/release") return await answerRelease(call, operations);
    } catch (error) {
      if (error instanceof JobEnded) return noLeaseClient;
      throw error;
    }
    return pageNotFound;
  }

  /** If the answer is lost, the client does not know the lease, so it is released. */
  #releaseIfUnanswered(response: ServerResponse, lease: JobLease): void {
    if (response.destroyed) return void this.#leases.undo(lease);
    response.once("close", () => {
      if (!response.writableFinished) void this.#leases.undo(lease);
    });
  }

  #remember(key: string, lease: JobLease): void {
    this.#byKey.set(key, lease);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > keysMax && oldest !== undefined) this.#byKey.delete(oldest);
  }
}

/** Takes the same time for any text, so that the secret cannot be guessed letter by letter. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, { status, body, json, note }: LeaseAnswer): void {
  const text = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  response.writeHead(status, {
    ...(json ? { "content-type": "application/json" } : status === 204 ? {} : text),
    ...(status === 405 ? { allow: "POST" } : {}),
    ...(note === undefined ? {} : { "berth-note": formatNote(note) }),
  });
  response.end(body);
}
