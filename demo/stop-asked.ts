import type { ChildProcess } from "node:child_process";

/** A key that is held down, or a signal that npm passes on too, is one wish. */
const sameWishMs = 3_000;

/**
 * Aborts when somebody wants the demo to stop: Ctrl-C, `kill`, or a terminal that was closed. Who asks
 * again later does not want to wait: the demo exits at once, and `endWithDemo` sees to its processes.
 */
export function stopAsked(): AbortSignal {
  const asked = new AbortController();
  let firstAt = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (!asked.signal.aborted) firstAt = performance.now();
      else if (performance.now() - firstAt > sameWishMs) process.exit(1);
      asked.abort();
    });
  }
  // A terminal that was closed: what is printed goes nowhere.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return asked.signal;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** The process does not outlive the demo, however the demo ends. */
export function endWithDemo(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}
