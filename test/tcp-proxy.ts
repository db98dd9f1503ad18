/** A TCP connection that a test controls: it passes data on, holds it back, or cuts at a moment. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * `lost`: the data does not arrive and the connection is cut. `delivered`: the data arrives, and the
 * connection is cut before any answer to it. `late`: the connection is cut, and the data arrives when
 * `deliverLate` is called, as packets do that are sent again after a network was down.
 */
export type Fate = "pass" | "lost" | "delivered" | "late";
/** `cut`: connections are closed and refused. `silent`: nothing passes, and nobody is told. */
export type Mode = "open" | "cut" | "silent";

export class TcpProxy implements AsyncDisposable {
  /** The port that new connections lead to. */
  target: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  readonly #late: (() => void)[] = [];
  #mode: Mode = "open";
  /** Called for each piece of data that a client sends. */
  fateOf: (data: Buffer) => Fate = () => "pass";

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer({ allowHalfOpen: false }, (client) => this.#join(client));
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  set mode(mode: Mode) {
    this.#mode = mode;
    if (mode === "cut") this.cutAll();
    for (const pair of this.#pairs) {
      for (const socket of pair) {
        if (mode === "silent") socket.pause();
        else socket.resume();
      }
    }
  }

  deliverLate(): void {
    for (const deliver of this.#late.splice(0)) deliver();
  }

  cutAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #join(client: Socket): void {
    client.on("error", () => {});
    if (this.#mode === "cut") return void client.destroy();
    const upstream = connect(this.target, "127.0.0.1");
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    upstream.on("error", end);
    client.on("close", end);
    upstream.on("close", end);
    client.on("data", (data) => this.#pass(data, client, upstream));
    upstream.on("data", (data) => client.write(data));
    if (this.#mode === "silent") for (const socket of pair) socket.pause();
  }

  #pass(data: Buffer, client: Socket, upstream: Socket): void {
    const fate = this.fateOf(data);
    if (fate === "late") {
      this.#late.push(() => upstream.write(data));
      client.removeAllListeners("close").destroy();
      return;
    }
    if (fate !== "lost") upstream.write(data);
    if (fate === "pass") return;
    client.destroy();
    // What was written must still reach the server.
    if (fate === "delivered") upstream.end();
    else upstream.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }
}
