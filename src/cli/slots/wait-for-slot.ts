import { roughDuration } from "../../core/model/time.ts";
import type { LeaseStore } from "../../kubernetes/lease-store.ts";
import type { HeldSlot } from "../../slots/held-slot.ts";
import { addGithubSummary, setGithubOutputs } from "../run/github-files.ts";
import type { SignalRouter } from "../run/signals.ts";
import { abortOnSignal, stderrScreen } from "../run/wait-for-lease.ts";
import { waitingDisplay } from "../run/waiting-display.ts";
import {
  durationSecondsOf,
  type SetFlags,
  slotSetOf,
  type TermFlags,
  timeoutMsOf,
} from "./flags.ts";

export interface SlotRequest {
  readonly identity: string;
  readonly usualSeconds: number;
}

/** Waits and shows the position. The first signal leaves the queue; the second exits at once. */
export async function waitForSlot(
  store: LeaseStore,
  flags: SetFlags & TermFlags,
  { identity, usualSeconds }: SlotRequest,
  router: SignalRouter,
): Promise<HeldSlot> {
  const { acquireSlot } = await import("../../slots/acquire.ts");
  const signal = abortOnSignal(router);
  const display = waitingDisplay(process.stderr, stderrScreen());
  const startedAtMs = performance.now();
  try {
    const held = await acquireSlot(store, {
      set: slotSetOf(flags),
      identity,
      durationSeconds: durationSecondsOf(flags, usualSeconds),
      timeoutMs: timeoutMsOf(flags),
      turnMs: flags.turn,
      signal,
      onWaiting: ({ waitedMs, position, reason }) =>
        display.show({
          waitedSeconds: waitedMs / 1_000,
          position,
          etaSeconds: null,
          reason: { message: reason },
        }),
      onRetry: (error) => display.retrying(error),
    });
    await reportToGithub(held, performance.now() - startedAtMs);
    return held;
  } finally {
    display.end();
    router.buffer();
  }
}

async function reportToGithub({ slot, fence, name, identity }: HeldSlot, waitedMs: number) {
  await setGithubOutputs({
    slot_id: String(slot),
    slot_fence: String(fence),
    slot_holder: identity,
  });
  const waited = roughDuration(waitedMs);
  await addGithubSummary(`Slot **${slot}** (\`${name}\`) for \`${identity}\`, after ${waited}`);
}
