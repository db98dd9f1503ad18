import { once } from "node:events";
import { expect, test } from "vitest";
import { exitCodeOfSignal, SignalDesk, type SignalName } from "./signals.ts";

async function sent(signal: NodeJS.Signals): Promise<void> {
  const heard = once(process, signal);
  process.kill(process.pid, signal);
  await heard;
}

test("SignalDesk keeps signals while nobody is in charge, and hands each on once", async () => {
  const desk = new SignalDesk();
  try {
    const [first, second]: [SignalName[], SignalName[]] = [[], []];
    await sent("SIGUSR2");
    desk.handTo((signal) => first.push(signal));
    await sent("SIGHUP");
    desk.keep();
    await sent("SIGQUIT");
    desk.handTo((signal) => second.push(signal));
    expect(first).toEqual(["SIGUSR2", "SIGHUP"]);
    expect(second).toEqual(["SIGQUIT"]);
  } finally {
    desk.close();
  }
});

test("exitCodeOfSignal() is what a shell reports", () => {
  expect(exitCodeOfSignal("SIGINT")).toBe(130);
  expect(exitCodeOfSignal("SIGTERM")).toBe(143);
});
