import type { Random } from "../src/insight/forecast/random.ts";
import type { Call, Reply, Site } from "./server.ts";
import type { World } from "./world.ts";

/**
 * The network between clients and the server. It is slow; while it is bad, it loses and repeats
 * messages.
 */
export class Network {
  readonly #world: World;
  readonly #random: Random;
  readonly #server: Site;
  bad = true;

  constructor(world: World, random: Random, server: Site) {
    this.#world = world;
    this.#random = random;
    this.#server = server;
  }

  /**
   * Returns undefined if no reply arrives within `timeoutMs`. The call may still have had an
   * effect.
   */
  call(call: Call, timeoutMs: number): Promise<Reply | undefined> {
    return new Promise((resolve) => {
      this.#world.after(timeoutMs, () => resolve(undefined));
      const copies = this.bad && this.#random.chance(0.05) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        if (this.#lost()) continue;
        this.#world.after(this.#delayMs(), () => void this.#deliver(call, resolve));
      }
    });
  }

  async #deliver(call: Call, resolve: (reply: Reply | undefined) => void): Promise<void> {
    const reply = await this.#server.call(call);
    // No server runs, or it died before it answered.
    if (reply === undefined) return;
    if (this.#lost()) {
      // If the server does not notice that the connection broke, it believes that the reply
      // arrived.
      const noticed = this.#random.chance(0.5);
      this.#world.after(this.#delayMs(), () =>
        this.#server.replyEnded(reply, { arrived: !noticed }),
      );
      return;
    }
    this.#world.after(this.#delayMs(), () => {
      this.#server.replyEnded(reply, { arrived: true });
      resolve(reply);
    });
  }

  #lost(): boolean {
    return this.bad && this.#random.chance(0.05);
  }

  #delayMs(): number {
    const slow = this.bad && this.#random.chance(0.05);
    return this.#random.between(0, slow ? 5_000 : 30);
  }
}
