import { constants } from "node:os";

export type SignalName = keyof typeof constants.signals;

/** As shells report it. */
export function exitCodeOfSignal(signal: SignalName): number {
  return 128 + constants.signals[signal];
}

/** What a job may be sent by a person, a CI system or a terminal. */
export const passedOn = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGTSTP",
  "SIGCONT",
] as const satisfies readonly SignalName[];

/** Those that end a process unless it does something about them, and that people mean so. */
export function isEnding(signal: SignalName): boolean {
  return ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].includes(signal);
}

/**
 * Catches them from the first moment to the last, and hands them to whoever is in charge: a wait to
 * leave, a command to pass them on to, a release that must not be cut short. Between two of these
 * they are kept, so that none is lost while a command is being started.
 */
export class SignalDesk {
  #receiver: ((signal: SignalName) => void) | undefined;
  #kept: SignalName[] = [];
  readonly #listener = (signal: SignalName): void => {
    if (this.#receiver === undefined) this.#kept.push(signal);
    else this.#receiver(signal);
  };

  constructor() {
    for (const signal of passedOn) process.on(signal, this.#listener);
  }

  handTo(receiver: (signal: SignalName) => void): void {
    this.#receiver = receiver;
    for (const signal of this.#kept.splice(0)) receiver(signal);
  }

  keep(): void {
    this.#receiver = undefined;
  }

  close(): void {
    for (const signal of passedOn) process.removeListener(signal, this.#listener);
  }
}
