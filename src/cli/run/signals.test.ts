import { once } from "node:events";
import { expect, test } from "vitest";
import { exitCodeOfSignal, type SignalName, SignalRouter } from "./signals.ts";

async function send(signal: NodeJS.Signals): Promise<void> {
  const received = once(process, signal);
  process.kill(process.pid, signal);
  await received;
}

test("SignalRouter buffers signals without a receiver, and delivers each once", async () => {
  const router = new SignalRouter();
  try {
    const [first, second]: [SignalName[], SignalName[]] = [[], []];
    await send("SIGUSR2");
    router.routeTo((signal) => first.push(signal));
    await send("SIGHUP");
    router.buffer();
    await send("SIGQUIT");
    router.routeTo((signal) => second.push(signal));
    expect(first).toEqual(["SIGUSR2", "SIGHUP"]);
    expect(second).toEqual(["SIGQUIT"]);
  } finally {
    router.close();
  }
});

test("exitCodeOfSignal() is the code that a shell reports", () => {
  expect(exitCodeOfSignal("SIGINT")).toBe(130);
  expect(exitCodeOfSignal("SIGTERM")).toBe(143);
});
