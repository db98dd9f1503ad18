import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Connections that have never sent anything, such as those that browsers open in advance. Node does
 * not count them as idle, so a server that stops would wait for them.
 */
export class SilentConnections {
  readonly #open = new Set<Socket>();

  constructor(server: Pick<Server, "on">) {
    for (const event of ["connection", "secureConnection"]) {
      server.on(event, (socket: Socket) => {
        this.#open.add(socket);
        socket.once("close", () => this.#open.delete(socket));
      });
    }
  }

  close(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}
