import type { Broker } from "../../broker/broker.ts";
import { pause, pauseMs } from "../../client/pause.ts";
import type { MirrorSpec } from "../../config/read-mirror.ts";
import { LeaseBoard } from "../../kubernetes/lease-board.ts";
import { Blocked } from "./blocked.ts";
import { storeFor } from "./lease-object.ts";
import { mirrorLimits } from "./limits.ts";
import { ObjectWriter, type Written } from "./object-writer.ts";
import { survey } from "./survey.ts";

/** What those who watch over it are told. */
export interface MirrorNews {
  /** It works, or works again. */
  up?(): void;
  /** It does not; it is tried again. Told once for each cause. */
  down?(cause: Error): void;
  /** This one object is left as it is. */
  left?(name: string, why: string): void;
}

export interface MirrorFigures {
  up: boolean;
  /** Objects that say something wrong, or are missing, or are too many, at the last look. */
  behind: number;
  failures: number;
  readonly written: Written;
}

/**
 * Makes the objects of one namespace say what is lent. It looks at the broker's state and at what is
 * there, never at what happened: so a restart, a lost message, or somebody who deletes or edits an
 * object changes nothing but what is to be done next.
 */
export class MirrorRun {
  readonly #broker: Broker;
  readonly #spec: MirrorSpec;
  readonly #news: MirrorNews;
  readonly #figures: MirrorFigures;
  readonly #stop = new AbortController();
  readonly #blocked = new Blocked();
  /** The last trouble, until it is over. */
  #trouble: string | undefined;
  /** What is there is known from before the trouble: nothing is up to date because of it. */
  #blind = false;
  #failures = 0;
  /** Resolved as soon as there may be something to do. */
  #wake = Promise.withResolvers<void>();
  readonly #done: Promise<void>;

  constructor(broker: Broker, spec: MirrorSpec, figures: MirrorFigures, news: MirrorNews) {
    this.#broker = broker;
    this.#spec = spec;
    this.#figures = figures;
    this.#news = news;
    this.#done = this.#run();
  }

  /** Leaves the objects as they are. */
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
    const onTrouble = (error: Error): void => {
      this.#blind = true;
      this.#failed(error);
    };
    await using board = await LeaseBoard.open(store, { signal, onTrouble });
    this.#blind = false;
    const writer = new ObjectWriter({
      ...{ broker: this.#broker, spec: this.#spec, store, board, signal },
      ...{ written: this.#figures.written, blocked: this.#blocked },
      left: (name, why) => this.#news.left?.(name, why),
    });
    using _ = this.#listen(board);
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers();
      if (await this.#putRight(board, writer)) continue;
      const rest = pause(mirrorLimits.lookEveryMs, signal).catch(() => {});
      await Promise.race([this.#wake.promise, rest]);
    }
  }

  /** Wakes up when something was committed, or somebody touched an object. */
  #listen(board: LeaseBoard): Disposable {
    let over = false;
    const follow = async (): Promise<void> => {
      while (!over) {
        await board.changed;
        if (!over) this.#blind = false;
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

  /** Whether there is more to do. */
  async #putRight(board: LeaseBoard, writer: ObjectWriter): Promise<boolean> {
    const { lookGapMs, lookShare, todoMax } = mirrorLimits;
    const startedAtMs = performance.now();
    this.#blocked.forgetOld();
    const found = await survey(this.#broker, board, this.#spec, this.#blocked);
    const tookMs = performance.now() - startedAtMs;
    this.#figures.behind = found.behind;
    // What was given back first, then what is new; that somebody still lives can wait.
    const todo = [...found.remove, ...found.write, ...found.renew].slice(0, todoMax);
    await writer.putAll(todo, () => this.#works());
    if (todo.length === 0 && !this.#blind) this.#works();
    await pause(Math.max(lookGapMs, tookMs * lookShare), this.#stop.signal);
    return todo.length > 0;
  }

  #works(): void {
    if (!this.#figures.up) this.#news.up?.();
    this.#trouble = undefined;
    this.#failures = 0;
    this.#figures.up = true;
  }

  #failed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    const cause = error instanceof Error ? error : new Error(String(error));
    this.#failures += 1;
    this.#figures.failures += 1;
    this.#figures.up = false;
    if (this.#trouble !== cause.message) this.#news.down?.(cause);
    this.#trouble = cause.message;
  }
}
