import type { Broker } from "../../broker/broker.ts";
import { pause, pauseMs } from "../../client/pause.ts";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import { LeaseBoard } from "../../kubernetes/lease-board.ts";
import { Blocked } from "./blocked.ts";
import { storeFor } from "./lease-object.ts";
import { mirrorLimits } from "./limits.ts";
import { ObjectWriter, type Written } from "./object-writer.ts";
import { survey } from "./survey.ts";

/** Callbacks about the state of the mirror. */
export interface MirrorListener {
  /** The mirror works, or works again. */
  up?(): void;
  /** The mirror failed and tries again. Called once for each cause. */
  down?(cause: Error): void;
  /** The mirror leaves this object unchanged. */
  left?(name: string, why: string): void;
}

export interface MirrorFigures {
  up: boolean;
  /** The number of objects that were wrong, missing or left over at the last survey. */
  behind: number;
  failures: number;
  readonly written: Written;
}

/**
 * Makes the objects of one namespace equal to the leases of the broker. It compares the state of
 * the broker with the existing objects and does not depend on events. So it also repairs what a
 * restart, a lost event or a manual change left behind.
 */
export class MirrorRun {
  readonly #broker: Broker;
  readonly #spec: MirrorSpec;
  readonly #listener: MirrorListener;
  readonly #figures: MirrorFigures;
  readonly #stop = new AbortController();
  readonly #blocked = new Blocked();
  /** The last error, until the mirror works again. */
  #lastError: string | undefined;
  /**
   * True if the watch failed. The known objects may then be out of date, so that no difference does
   * not mean success.
   */
  #isBoardStale = false;
  #failures = 0;
  /** Resolves as soon as there may be work. */
  #wake = Promise.withResolvers<void>();
  readonly #done: Promise<void>;

  constructor(broker: Broker, spec: MirrorSpec, figures: MirrorFigures, listener: MirrorListener) {
    this.#broker = broker;
    this.#spec = spec;
    this.#figures = figures;
    this.#listener = listener;
    this.#done = this.#run();
  }

  /** Leaves the objects unchanged. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        await pause(pauseMs(this.#failures), signal).catch(() => {});
      }
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    const store = await storeFor(this.#spec);
    const onRetry = (error: Error): void => {
      this.#isBoardStale = true;
      this.#failed(error);
    };
    await using board = await LeaseBoard.open(store, { signal, onRetry });
    this.#isBoardStale = false;
    const writer = new ObjectWriter({
      ...{ broker: this.#broker, spec: this.#spec, store, board, signal },
      ...{ written: this.#figures.written, blocked: this.#blocked },
      left: (name, why) => this.#listener.left?.(name, why),
    });
    using _ = this.#listen(board);
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      if (await this.#syncObjects(board, writer)) continue;
      const rest = pause(mirrorLimits.surveyEveryMs, signal).catch(() => {});
      await Promise.race([this.#wake.promise, rest]);
    }
  }

  /** Wakes the loop after a commit and after a change of an object. */
  #listen(board: LeaseBoard): Disposable {
    let over = false;
    const follow = async (): Promise<void> => {
      while (!over) {
        await board.changed;
        if (!over) this.#isBoardStale = false;
        this.#wake.resolve();
      }
    };
    void follow();
    const forget = this.#broker.listen({ committed: () => this.#wake.resolve() });
    return {
      [Symbol.dispose]: () => {
        over = true;
        forget();
      },
    };
  }

  /** Runs one survey and its writes. Returns whether there may be more work. */
  async #syncObjects(board: LeaseBoard, writer: ObjectWriter): Promise<boolean> {
    const { surveyGapMs, surveyGapFactor, batchMax } = mirrorLimits;
    const startedAtMs = performance.now();
    this.#blocked.removeOld();
    const found = await survey(this.#broker, board, this.#spec, this.#blocked);
    const tookMs = performance.now() - startedAtMs;
    this.#figures.behind = found.behind;
    // Removals come first, then new leases. Heartbeats are the least urgent.
    const todo = [...found.remove, ...found.write, ...found.renew].slice(0, batchMax);
    await writer.writeAll(todo, () => this.#succeeded());
    if (todo.length === 0 && !this.#isBoardStale) this.#succeeded();
    await pause(Math.max(surveyGapMs, tookMs * surveyGapFactor), this.#stop.signal);
    return todo.length > 0;
  }

  #succeeded(): void {
    if (!this.#figures.up) this.#listener.up?.();
    this.#lastError = undefined;
    this.#failures = 0;
    this.#figures.up = true;
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const cause = error instanceof Error ? error : new Error(String(error));
    this.#failures += 1;
    this.#figures.failures += 1;
    this.#figures.up = false;
    if (this.#lastError !== cause.message) this.#listener.down?.(cause);
    this.#lastError = cause.message;
  }
}
