/** The lease proxy's API beside a job, on loopback: what is asked for here belongs to the job. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  answerAcquire,
  answerRelease,
  isStrict,
  type LeaseAnswer,
  type LeaseDesk,
  noLeaseClient,
  pageNotFound,
} from "../../api/lease-proxy.ts";
import { limits } from "../../api/limits.ts";
import { JobEnded, type JobLeases } from "./job-leases.ts";
import type { KeptLease } from "./kept-lease.ts";

/** Longer than clients keep a connection that they may use again, so that none is cut while they do. */
const keepAliveTimeoutMs = 120_000;

/** Those who were lent something and may ask again, not knowing it. */
const keysMax = 1_000;

export class LeaseProxy {
  readonly #leases: JobLeases;
  readonly #server: Server;
  readonly #byKey = new Map<string, KeptLease>();

  private constructor(leases: JobLeases) {
    this.#leases = leases;
    const options = { keepAliveTimeout: keepAliveTimeoutMs };
    this.#server = createServer(options, (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** On loopback, at a port that is free. */
  static async start(leases: JobLeases): Promise<LeaseProxy> {
    const proxy = new LeaseProxy(leases);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** After the leases are closed: whoever still waits has been answered. */
  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("The client has hung up")));
    const body = await bodyOf(request);
    if (body === undefined) return send(response, { status: 413, body: "the body is too large\n" });
    try {
      send(response, await this.#answer(request, response, body, gone.signal));
    } catch (error) {
      if (gone.signal.aborted) return; // Nobody is there to be told.
      send(response, { status: 500, body: `berth has a bug: ${String(error)}\n` });
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
    signal: AbortSignal,
  ): Promise<LeaseAnswer> {
    const { method = "", url = "", headers } = request;
    const [path] = url.split("?");
    const call = { method, url, body, strict: isStrict(headers["prefer"]?.toString()) };
    const desk: LeaseDesk = {
      release: (name) => this.#leases.release(name),
      acquire: async (wanted) => {
        const key = headers["idempotency-key"]?.toString() ?? "";
        const known = key === "" ? undefined : this.#byKey.get(key);
        if (known !== undefined && known.names.length > 0) return known.names;
        const kept = await this.#leases.acquire(wanted, signal);
        if (key !== "") this.#remember(key, kept);
        this.#noticeLoss(response, kept);
        return kept.names;
      },
    };
    try {
      if (path === "/lease/acquire") return await answerAcquire(call, desk);
      if (path === "/lease/release") return await answerRelease(call, desk);
    } catch (error) {
      if (error instanceof JobEnded) return noLeaseClient;
      throw error;
    }
    return pageNotFound;
  }

  /** An answer that does not get through would leave a lease of which nobody knows. */
  #noticeLoss(response: ServerResponse, kept: KeptLease): void {
    if (response.destroyed) return void this.#leases.undo(kept);
    response.once("close", () => {
      if (!response.writableFinished) void this.#leases.undo(kept);
    });
  }

  #remember(key: string, kept: KeptLease): void {
    this.#byKey.set(key, kept);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > keysMax && oldest !== undefined) this.#byKey.delete(oldest);
  }
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
    ...(note === undefined ? {} : { "berth-note": encodeURI(note) }),
  });
  response.end(body);
}
