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
});
