/** Stands between a client and a server, breaks the calls that a script names, and records all of them. */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to calls of one kind; `nth` counts them from 1, up to `upTo`. */
export interface Fault {
  /** `POST /v1/leases`; an id in the path is written `*`. */
  readonly on: string;
  readonly nth: number;
  readonly upTo?: number;
  /**
   * `cut`: the call does not reach the server. `lose-reply`: it does, and its answer is lost. `truncate`: half of
   * the answer arrives. `delay`: it arrives `ms` later. `answer`: the proxy answers itself.
   */
  readonly do: "cut" | "lose-reply" | "truncate" | "delay" | "answer";
  readonly ms?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface RecordedCall {
  readonly kind: string;
  readonly body: string;
}

export class FaultProxy implements AsyncDisposable {
  readonly calls: RecordedCall[] = [];
  readonly #server: Server;
  readonly #target: () => string;
  readonly #faults: readonly Fault[];

  private constructor(target: () => string, faults: readonly Fault[]) {
    this.#target = target;
    this.#faults = faults;
    this.#server = createServer((call, answer) => {
      this.#handle(call, answer).catch(() => answer.destroy());
    });
  }

  static async start(target: () => string, faults: readonly Fault[]): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, faults);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  count(kind: string): number {
    return this.calls.filter((call) => call.kind === kind).length;
  }

  async #handle(call: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = await textOf(call);
    const kind = kindOf(call);
    this.calls.push({ kind, body });
    const nth = this.count(kind);
    const fault = this.#faults.find(
      (one) => one.on === kind && nth >= one.nth && nth <= (one.upTo ?? one.nth),
    );
    if (fault?.do === "cut") return void answer.destroy();
    if (fault?.do === "answer") {
      return void answer.writeHead(fault.status ?? 503, fault.headers).end(fault.body ?? "");
    }
    const reply = await this.#pass(call, body, answer);
    if (fault?.do === "lose-reply") return void answer.destroy();
    if (fault?.do === "delay") await new Promise((resolve) => setTimeout(resolve, fault.ms));
    answer.writeHead(reply.status, { ...reply.headers, "content-length": reply.body.length });
    if (fault?.do !== "truncate") return void answer.end(reply.body);
    answer.write(reply.body.subarray(0, reply.body.length / 2), () => answer.destroy());
  }

  /** A client that hangs up leaves the server too: that is how the server learns of it. */
  #pass(call: IncomingMessage, body: string, answer: ServerResponse) {
    const { method, url, headers } = call;
    const target = new URL(url ?? "/", this.#target());
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      headers: Record<string, string>;
      body: Buffer;
    }>();
    const own = { ...headers, host: target.host, connection: "close" };
    const passed = send(target, { ...(method && { method }), headers: own }, async (reply) => {
      const chunks: Buffer[] = [];
      reply.once("error", reject);
      for await (const chunk of reply) chunks.push(chunk as Buffer);
      const kept = ["content-type", "retry-after"].flatMap((name) => {
        const value = reply.headers[name];
        return typeof value === "string" ? [[name, value] as const] : [];
      });
      const { statusCode: status = 502 } = reply;
      resolve({ status, headers: Object.fromEntries(kept), body: Buffer.concat(chunks) });
    });
    passed.once("error", reject);
    answer.once("close", () => passed.destroy());
    passed.end(body);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function kindOf({ method, url = "" }: IncomingMessage): string {
  const path = url.replace(/\?.*/, "").replace(/^(\/v1\/(?:leases|requests)\/)[^/]+/, "$1*");
  return `${method} ${path}`;
}

async function textOf(call: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of call.setEncoding("utf8")) text += chunk;
  return text;
}
