import type { RequestListener } from "node:http";
import { Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "pino";
import { answerPlainHttp } from "../http/errors.ts";

/** A server for HTTPS that also answers plain HTTP, and that connections without TLS cannot hold up. */
export class TlsServer extends Server {
  /** TCP connections on which TLS is not established yet, by the address of their peer. */
  readonly #handshakes = new Map<string, Socket>();

  constructor(options: ServerOptions, answer: RequestListener, logger: Logger) {
    super(options, answer);
    this.prependListener("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      this.#handshakes.set(peer, socket);
      socket.once("close", () => this.#handshakes.delete(peer));
    });
    this.on("secureConnection", (socket) => this.#handshakes.delete(peerOf(socket)));
    this.on("tlsClientError", (error, socket) => this.#failed(error, socket, logger));
  }

  /** Node would wait two minutes for clients that have connected and sent nothing. */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback);
    for (const socket of this.#handshakes.values()) socket.destroy();
    return this;
  }

  /**
   * A client that sends plain HTTP gets an answer that says so. OpenSSL recognizes such a call, but
   * then the TLS socket is closed already, so the answer goes to the TCP socket below it.
   */
  #failed(error: NodeJS.ErrnoException, socket: TLSSocket, logger: Logger): void {
    const tcp = this.#handshakes.get(peerOf(socket));
    if (error.code === "ERR_SSL_HTTP_REQUEST" && tcp !== undefined) answerPlainHttp(tcp);
    else if (error.code !== "ECONNRESET") {
      logger.debug({ err: error, from: socket.remoteAddress }, "a TLS handshake failed");
    }
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
