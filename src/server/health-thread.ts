/** The thread behind `HealthListener`. It answers probes while the server's thread waits for a disk. */
import { parentPort, workerData } from "node:worker_threads";
import { CannotServe } from "./cannot-serve.ts";
import type { HealthReply, HealthSetup } from "./health-listener.ts";
import { healthAnswers, SideListener } from "./side-listener.ts";

const { flag, address, shared }: HealthSetup = workerData;
const cells = new Int32Array(shared);

/** A server that has not run for this long hangs, and should be restarted. */
const hangMsMax = 60_000;

let lastBeat = -1;
let beatAtMs = performance.now();

function isAlive(): boolean {
  const beat = Atomics.load(cells, 1);
  if (beat !== lastBeat) {
    lastBeat = beat;
    beatAtMs = performance.now();
  }
  return performance.now() - beatAtMs < hangMsMax;
}

// Reads the beats also while no probe asks, so that a hang is measured from its beginning.
setInterval(isAlive, 1_000);

const isReady = () => Atomics.load(cells, 0) === 1;

function reply(message: HealthReply): void {
  parentPort?.postMessage(message);
}

SideListener.start(flag, address, healthAnswers(isReady, isAlive)).then(
  ({ url }) => reply({ url }),
  (error: unknown) => {
    if (error instanceof CannotServe) reply({ message: error.message, hint: error.hint });
    else reply({ message: String(error) });
  },
);
