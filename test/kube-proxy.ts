/** A way to the API server that a test can hold up, cut, or let somebody else be faster on. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { request } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import type { KubeCluster } from "./kube-cluster.ts";

export interface Passing {
  readonly method: string;
  readonly path: string;
}

/** Of an admission webhook, of a list that is too old, of a server that has too much to do or is in trouble. */
export type Refusal = 403 | 409 | 410 | 422 | 429 | 500 | 503;

const reasons: Readonly<Record<Refusal, string>> = {
  ...{ 403: "Forbidden", 409: "Conflict", 410: "Expired", 422: "Invalid", 429: "TooManyRequests" },
  ...{ 500: "InternalError", 503: "ServiceUnavailable" },
};

export class KubeProxy implements AsyncDisposable {
  readonly #cluster: KubeCluster;
  readonly #ca: Buffer;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Awaited before a request goes on. */
  before: (passing: Passing) => Promise<void> = async () => {};
  /** A status to answer with, as an admission webhook does; the request goes no further then. */
  refuses: (passing: Passing) => Refusal | undefined = () => undefined;
  /** Whether the reply to a request is lost, after the server has done what it was asked for. */
  loses: (passing: Passing) => boolean = () => false;
  /** Another text for a reply, as a server with other settings would give it. */
  rewrites: ((passing: Passing) => ((text: string) => string) | undefined) | undefined;
  /** With a refusal of 429. */
  retryAfterSeconds: (passing: Passing) => number | undefined = () => undefined;
  /** While true every connection is cut as soon as it says something. */
  away = false;
  /** Whether the connection is cut before the request has gone on. */
  cuts: (passing: Passing) => boolean = () => false;
  /** Every request that came by. */
  readonly seen: Passing[] = [];

  private constructor(cluster: KubeCluster) {
    this.#cluster = cluster;
    this.#ca = readFileSync(join(cluster.folder, "certs", "apiserver.crt"));
    this.#server = createServer((from, to) => void this.#pass(from, to));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(cluster: KubeCluster): Promise<KubeProxy> {
    const proxy = new KubeProxy(cluster);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Ends every connection as a network does: without a word. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const passing = { method: from.method ?? "", path: from.url ?? "" };
    this.seen.push(passing);
    if (this.away || this.cuts(passing)) return void from.socket.destroy();
    await this.before(passing);
    const code = this.refuses(passing);
    if (code !== undefined) return refuse(to, code, this.retryAfterSeconds(passing));
    const loses = this.loses(passing);
    const { host: _host, "accept-encoding": _packed, ...headers } = from.headers;
    const options = { method: from.method ?? "GET", headers, ca: this.#ca };
    const onward = request(new URL(passing.path, this.#cluster.url), options, (reply) => {
      if (loses) {
        reply.resume();
        reply.on("end", () => from.socket.destroy());
        return;
      }
      const rewrite = this.rewrites?.(passing);
      if (rewrite !== undefined) return void rewritten(reply, to, rewrite);
      to.writeHead(reply.statusCode ?? 502, reply.headers);
      to.flushHeaders();
      reply.pipe(to);
      reply.on("error", () => to.destroy());
    });
    onward.on("error", () => to.destroy());
    to.on("close", () => onward.destroy());
    from.pipe(onward);
  }
}

async function rewritten(
  reply: IncomingMessage,
  to: ServerResponse,
  rewrite: (text: string) => string,
): Promise<void> {
  const body = Buffer.from(rewrite((await reply.toArray()).join("")));
  const length = { "content-length": String(body.length) };
  to.writeHead(reply.statusCode ?? 502, { ...reply.headers, ...length }).end(body);
}

function refuse(to: ServerResponse, code: Refusal, retryAfter: number | undefined): void {
  const reason = reasons[code];
  const message = "admission webhook denied the request";
  const later = code === 429 && retryAfter !== undefined && { "retry-after": String(retryAfter) };
  to.writeHead(code, { "content-type": "application/json", ...later });
  to.end(JSON.stringify({ kind: "Status", status: "Failure", code, reason, message }));
}
