import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { LinkedAbort, unlessAborted } from "./linked-abort.ts";

describe("LinkedAbort", () => {
  test("aborts with any of the linked signals, with the same reason", () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const linked = new LinkedAbort(one.signal, undefined, other.signal);
    other.abort("enough");
    expect(linked.signal).toMatchObject({ aborted: true, reason: "enough" });
    expect(one.signal.aborted).toBe(false);
  });

  test("starts aborted if a linked signal is already aborted", () => {
    expect(new LinkedAbort(AbortSignal.abort("over")).signal.reason).toBe("over");
  });

  test("removes its listeners and stays independent after unlink()", () => {
    const long = new AbortController();
    const linked = new LinkedAbort(long.signal);
    expect(getEventListeners(long.signal, "abort")).toHaveLength(1);
    linked.unlink();
    expect(getEventListeners(long.signal, "abort")).toEqual([]);
    long.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});

describe("unlessAborted()", () => {
  const never = new Promise<void>(() => {});

  test("rejects with the signal's reason while the work goes on", async () => {
    const stop = new AbortController();
    const waiting = unlessAborted(never, stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(unlessAborted(never, stop.signal)).rejects.toThrow("enough");
  });

  test("ends as the work does, and leaves nothing behind", async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(7), signal)).toBe(7);
    await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
