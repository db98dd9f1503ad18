/** One address for several servers, as a load balancer gives it. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { parseListenAddress } from "../src/server/listen-address.ts";

export class Balancer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** Each connection leads to the next of these ports that answers. */
  static async start(listen: string, ports: readonly number[]): Promise<Balancer> {
    const { host, port } = parseListenAddress(listen);
    let turn = 0;
    const server = createServer({ pauseOnConnect: true }, (client) => {
      turn += 1;
      balancer.#join(client, [...ports.slice(turn % ports.length), ...ports]);
    });
    await once(server.listen(port, host), "listening");
    const address = server.address();
    const bound = typeof address === "object" ? address?.port : port;
    const balancer = new Balancer(
      server,
      `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    );
    return balancer;
  }

  #join(client: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    this.#keep(client);
    this.#keep(upstream);
    upstream.once("error", () => {
      if (upstream.bytesRead === 0 && upstream.bytesWritten === 0 && !client.destroyed) {
        this.#join(client, others);
      } else client.destroy();
    });
    upstream.once("connect", () => {
      client.once("close", () => upstream.destroy());
      upstream.once("close", () => client.destroy());
      client.pipe(upstream);
      upstream.pipe(client);
      client.resume();
    });
  }

  #keep(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
