import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  test("runs one task at a time, in order, and everything else in between", async () => {
    const turns = new Turns();
    const seen: string[] = [];
    const task = (name: string) =>
      turns.run(async () => {
        seen.push(`${name} starts`);
        await setImmediate();
        seen.push(`${name} ends`);
      });
    const others = (async () => {
      for (let loop = 0; loop < 8; loop++) {
        await setImmediate();
        seen.push("other");
      }
    })();
    await Promise.all([task("a"), task("b"), task("c"), others]);
    const tasks = seen.filter((name) => name !== "other");
    expect(tasks).toEqual(["a", "b", "c"].flatMap((name) => [`${name} starts`, `${name} ends`]));
    expect(seen.slice(seen.indexOf("a ends"), seen.indexOf("b starts"))).toContain("other");
    expect(seen.slice(seen.indexOf("b ends"), seen.indexOf("c starts"))).toContain("other");
  });

  test("goes on after a task that fails", async () => {
    const turns = new Turns();
    const failing = turns.run(() => Promise.reject(new Error("broken")));
    await expect(failing).rejects.toThrow("broken");
    expect(await turns.run(async () => 1)).toBe(1);
  });

  test("refuses more than its limit, and does not begin a task that was aborted", async () => {
    const turns = new Turns({ max: 3, refusal: () => new Error("3 are queued") });
    const gate = Promise.withResolvers<void>();
    const aborted = new AbortController();
    const begun: string[] = [];
    const running = turns.run(async () => {
      begun.push("a");
      await gate.promise;
    });
    const dropped = turns.run(async () => void begun.push("b"), aborted.signal);
    const last = turns.run(async () => void begun.push("c"));
    await expect(turns.run(async () => {})).rejects.toThrow("3 are queued");
    aborted.abort();
    await expect(dropped).rejects.toThrow(/aborted/);
    const next = turns.run(async () => void begun.push("d"));
    expect(begun).toEqual(["a"]);
    gate.resolve();
    await Promise.all([running, next]);
    await last;
    expect(begun).toEqual(["a", "c", "d"]);
    expect(await turns.run(async () => "again")).toBe("again");
  });
});
