import { expect, test } from "vitest";
import { Problem } from "../api/problem.ts";
import { BerthUnreachable } from "./errors.ts";
import { clientLimits } from "./limits.ts";
import { isTemporary, pause, pauseMs, retrying } from "./pause.ts";

test.each([
  [0, 0, 100],
  [0, 1, 200],
  [1, 1, 400],
  [4, 0, 1_600],
  [5, 1, clientLimits.pauseMsMax],
  [10_000, 1, clientLimits.pauseMsMax],
])("pauseMs(%i, %d) is %i", (failures, chance, want) => {
  expect(pauseMs(failures, chance)).toBe(want);
});

const problem = (status: number) => new Problem({ code: "x", status, message: "", hint: "" });
test.each([429, 502, 503, 504])("isTemporary() is true for %i", (status) => {
  expect(isTemporary(problem(status))).toBe(true);
});
test.each([400, 404, 409, 410, 500])("isTemporary() is false for %i", (status) => {
  expect(isTemporary(problem(status))).toBe(false);
});

test("retrying() throws the last error when its time is over", async () => {
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    throw new BerthUnreachable("http://x", `try ${tries}`);
  };
  await expect(retrying(attempt, { forMs: 0 })).rejects.toThrow("try 1");
  const trying = retrying(attempt, { forMs: 50 }).catch((error: Error) => error.message);
  expect(await trying).toContain(`try ${tries}`);
});

test("retrying() ends at once when the signal aborts in a pause", async () => {
  const stop = new AbortController();
  const attempt = async () => {
    throw new BerthUnreachable("http://x", "away");
  };
  const onRetry = () => queueMicrotask(() => stop.abort(new Error("enough")));
  const trying = retrying(attempt, { forMs: 3_600_000, signal: stop.signal, onRetry });
  await expect(trying).rejects.toThrow("enough");
});

test("pause() rejects with the reason of a signal that has aborted before", async () => {
  await expect(pause(3_600_000, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});
