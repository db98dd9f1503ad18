import type { SignalName } from "../run/signals.ts";

/** Keys that a terminal in raw mode sends instead of a signal. */
const signalByKey: Readonly<Record<string, SignalName>> = {
  "\u0003": "SIGINT",
  "\u001c": "SIGQUIT",
};
const suspendKey = "\u001a";

export interface QuitListeners {
  readonly quit: () => void;
  readonly signal: (name: SignalName) => void;
}

/**
 * Calls `quit` if the user presses q. Node reads single keys only in raw mode, in which the terminal
 * sends no signals: Ctrl-C and Ctrl-\ are reported here, and Ctrl-Z suspends the process. Does nothing
 * if stdin is not a terminal.
 */
export class QuitKeys implements Disposable {
  readonly #listeners: QuitListeners;
  readonly #onData = (data: Buffer): void => {
    for (const key of data.toString("latin1")) this.#press(key);
  };
  readonly #onContinue = (): void => this.#setRaw(true);

  constructor(listeners: QuitListeners) {
    this.#listeners = listeners;
    if (!process.stdin.isTTY) return;
    this.#setRaw(true);
    process.stdin.on("data", this.#onData);
    process.on("SIGCONT", this.#onContinue);
  }

  /** Gives the terminal back as it was, and no longer keeps the process alive. */
  [Symbol.dispose](): void {
    if (!process.stdin.isTTY) return;
    process.off("SIGCONT", this.#onContinue);
    process.stdin.off("data", this.#onData);
    process.stdin.pause();
    this.#setRaw(false);
  }

  #press(key: string): void {
    const signal = signalByKey[key];
    if (signal !== undefined) this.#listeners.signal(signal);
    else if (key === "q" || key === "Q") this.#listeners.quit();
    else if (key === suspendKey) {
      this.#setRaw(false);
      process.kill(process.pid, "SIGTSTP");
    }
  }

  #setRaw(raw: boolean): void {
    try {
      process.stdin.setRawMode(raw);
    } catch {
      // The terminal is gone. The process gets SIGHUP.
    }
  }
}
