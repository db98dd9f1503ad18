import type { Logger } from "pino";
import type { Broker } from "../broker/broker.ts";
import type { SystemEnvironment } from "../broker/environment.ts";
import { roughDuration } from "../core/model/time.ts";

/** A start this long after the last event may also mean that the clock is wrong. */
const startGapMsMax = 24 * 3_600_000;
/** A smaller difference between the two clocks is normal. */
const differenceMsMax = 60_000;
const checkEveryMs = 60_000;

/**
 * Compares the clock of the machine with the broker's time, and logs an error if one of them must be
 * wrong. `docs/decisions/0017-time-over-a-restart.md` says why the broker does nothing else.
 */
export class ClockWatch {
  readonly #environment: SystemEnvironment;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #startWarning: string | undefined;
  #runWarning: string | undefined;

  constructor(environment: SystemEnvironment, logger: Logger) {
    this.#environment = environment;
    this.#logger = logger;
    this.#timer = setInterval(() => this.check(), checkEveryMs).unref();
  }

  /** For `/v1/config`, which the page and the command line show. */
  get warnings(): readonly string[] {
    return [this.#startWarning, this.#runWarning].filter((text) => text !== undefined);
  }

  /** Positive: the broker's time is ahead of the clock of the machine. */
  get aheadMs(): number {
    return this.#environment.aheadMs();
  }

  /** Call it before anything expires, with the number of the last event. */
  async checkStart(broker: Broker): Promise<void> {
    const { startGapMs } = this.#environment;
    if (broker.head === 0) return;
    if (startGapMs > startGapMsMax) this.#startWarning = await startedLate(broker, startGapMs);
    if (this.#startWarning !== undefined) this.#logger.error(this.#startWarning);
    this.check();
  }

  check(): void {
    const aheadMs = this.aheadMs;
    const before = this.#runWarning;
    const isWrong = Math.abs(aheadMs) > differenceMsMax;
    this.#runWarning = isWrong ? difference(aheadMs) : undefined;
    if (isWrong && before === undefined) this.#logger.error(this.#runWarning);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function startedLate(broker: Broker, gapMs: number): Promise<string> {
  const ending = await broker.read((state, now) => {
    return [...state.leases.values()].filter(({ endsAt }) => endsAt <= now).length;
  });
  return (
    `The clock is ${roughDuration(gapMs)} ahead of the last event. ` +
    `${ending} ${ending === 1 ? "lease has" : "leases have"} reached the max lifetime since. ` +
    "If the server was not stopped for that long, the clock is wrong"
  );
}

function difference(aheadMs: number): string {
  const by = roughDuration(Math.abs(aheadMs));
  if (aheadMs < 0) return `The broker's time is ${by} behind the clock: the clock was set forward`;
  return (
    `The broker's time is ${by} ahead of the clock: the clock was set back, or it was wrong before. ` +
    "After the next start the broker's time runs 10 % slower until the clock has caught up"
  );
}
