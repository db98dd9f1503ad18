import { constants } from "node:os";

export type SignalName = keyof typeof constants.signals;

/** The exit code that shells report for a process killed by this signal. */
export function exitCodeOfSignal(signal: SignalName): number {
  return 128 + constants.signals[signal];
}

/** The signals that a user, a CI system or a terminal may send to a job. */
export const forwardedSignals = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGTSTP",
  "SIGCONT",
] as const satisfies readonly SignalName[];

/** Whether the sender wants the process to exit. */
export function isTerminating(signal: SignalName): boolean {
  return ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].includes(signal);
}

/**
 * Catches signals from its construction until `close`, and passes each to the current receiver: a
 * wait that must leave the queue, a command, or a release that must not be cut short. Without a
 * receiver it buffers signals, so that none is lost while a command starts.
 */
export class SignalRouter {
  #receiver: ((signal: SignalName) => void) | undefined;
  #buffered: SignalName[] = [];
  readonly #listener = (signal: SignalName): void => {
    if (this.#receiver === undefined) this.#buffered.push(signal);
    else this.#receiver(signal);
  };

  constructor() {
    for (const signal of forwardedSignals) process.on(signal, this.#listener);
  }

  /** Sets the receiver. It gets the buffered signals at once, then every new signal. */
  routeTo(receiver: (signal: SignalName) => void): void {
    this.#receiver = receiver;
    for (const signal of this.#buffered.splice(0)) receiver(signal);
  }

  /** Removes the receiver. Signals are buffered until the next `routeTo`. */
  buffer(): void {
    this.#receiver = undefined;
  }

  /** Stops to catch signals. From now on they have their default effect. */
  close(): void {
    for (const signal of forwardedSignals) process.removeListener(signal, this.#listener);
  }
}
