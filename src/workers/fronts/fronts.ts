/** Serves objects of API servers as requests, for as long as this server leads. */
import type { Broker } from "../../broker/broker.ts";
import type { FrontSpec } from "../../config/read-caas.ts";
import { type FrontListener, type FrontParts, FrontRun } from "./front-run.ts";

interface Lack {
  readonly name: string;
  readonly why: string;
}

interface Running {
  readonly text: string;
  readonly run: FrontRun;
}

export class Fronts {
  readonly #broker: Broker;
  readonly #parts: FrontParts;
  readonly #listener: FrontListener;
  /** Why API servers cannot be served now, by name. */
  readonly #down = new Map<string, string>();
  /** That another installation uses the name of an API server. */
  readonly #taken = new Map<string, string>();
  readonly #running = new Map<string, Running>();
  #changing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(broker: Broker, parts: FrontParts, listener: FrontListener = {}) {
    this.#broker = broker;
    this.#parts = parts;
    this.#listener = {
      ...listener,
      up: (front) => {
        this.#down.delete(front);
        listener.up?.(front);
      },
      down: (front, cause) => {
        this.#down.set(front, cause.message);
        listener.down?.(front, cause);
      },
      taken: (front, why) => {
        if (why === undefined) this.#taken.delete(front);
        else this.#taken.set(front, why);
        listener.taken?.(front, why);
      },
    };
  }

  get down(): readonly Lack[] {
    return Array.from(this.#down, ([name, why]) => ({ name, why }));
  }

  get taken(): readonly Lack[] {
    return Array.from(this.#taken, ([name, why]) => ({ name, why }));
  }

  /** Those that are the same go on. The objects of one that is gone are left as they are. */
  configure(specs: readonly FrontSpec[]): void {
    this.#changing = this.#changing.then(() => this.#change(specs));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#changing;
    await this.#change([]);
  }

  async #change(specs: readonly FrontSpec[]): Promise<void> {
    const wanted = new Map(specs.map((spec) => [spec.name, textOf(spec)]));
    for (const [name, { text, run }] of [...this.#running]) {
      if (wanted.get(name) === text && !this.#stopped) continue;
      this.#running.delete(name);
      this.#down.delete(name);
      this.#taken.delete(name);
      await run.stop();
    }
    if (this.#stopped) return;
    for (const spec of specs) {
      if (this.#running.has(spec.name)) continue;
      const run = new FrontRun(spec, this.#broker, this.#parts, this.#listener);
      this.#running.set(spec.name, { text: textOf(spec), run });
    }
  }
}

function textOf(spec: FrontSpec): string {
  const { clusterTemplates, spaceRequests, ...rest } = spec;
  return JSON.stringify([[...clusterTemplates], [...spaceRequests], rest]);
}
