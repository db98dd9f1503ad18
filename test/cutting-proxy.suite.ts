/**
 * Stands between clients and a server, and can be told to cut: from then on no reply gets through, and
 * at the moment that was chosen whoever set it is told, while all that is under way is lost.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** After so many requests have gone through, or once so many replies have begun to come back. */
export interface Moment {
  readonly at: "request" | "reply";
  readonly count: number;
}

export class CuttingProxy implements AsyncDisposable {
  /** How many clients were cut off when they had asked and were not answered. */
  cuts = 0;
  readonly #target: () => number;
  readonly #server: Server;
  readonly #pairs = new Set<{
    readonly client: Socket;
    readonly upstream: Socket;
    asked: boolean;
  }>();
  /** Clients that come while the server is down wait here, as at a load balancer. */
  #waiting: Socket[] | undefined;
  #armed: { readonly moment: Moment; seen: number; told: () => void } | undefined;

  private constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer((client) => {
      client.on("error", () => {});
      if (this.#waiting === undefined) this.#join(client);
      else this.#waiting.push(client);
    });
  }

  static async start(target: () => number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves at that moment. Nothing that the server says gets through any more. */
  cutAt(moment: Moment): Promise<void> {
    return new Promise((told) => {
      this.#armed = { moment, seen: 0, told };
    });
  }

  /** The server is gone: everybody is cut off, and whoever comes waits. */
  drop(): void {
    this.#armed = undefined;
    this.#waiting = [];
    for (const { client } of this.#pairs) client.destroy();
  }

  /** The server is back. */
  resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const client of waiting) this.#join(client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    const upstream = connect(this.#target(), "127.0.0.1");
    const pair = { client, upstream, asked: false };
    this.#pairs.add(pair);
    upstream.on("error", () => client.destroy());
    client.on("data", (chunk) => {
      pair.asked = true;
      upstream.write(chunk, () => this.#see("request"));
    });
    upstream.on("data", (chunk) => {
      if (this.#armed === undefined) {
        pair.asked = false;
        client.write(chunk);
      } else this.#see("reply");
    });
    client.on("close", () => {
      if (pair.asked) this.cuts += 1;
      upstream.destroy();
      this.#pairs.delete(pair);
    });
  }

  #see(what: Moment["at"]): void {
    if (this.#armed?.moment.at !== what) return;
    this.#armed.seen += 1;
    if (this.#armed.seen === this.#armed.moment.count) this.#armed.told();
  }
}
