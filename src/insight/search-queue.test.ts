import { describe, expect, test } from "vitest";
import { SearchQueue } from "./search-queue.ts";
import { StatsWorkerBusy } from "./stats-worker.ts";

describe("SearchQueue", () => {
  test("runs one search after the other, also after one that fails", async () => {
    const queue = new SearchQueue();
    const running: string[] = [];
    const search = (name: string) =>
      queue.run(async () => {
        running.push(`${name} begins`);
        await Promise.resolve();
        running.push(`${name} ends`);
        if (name === "b") throw new Error("no database");
        return name;
      });
    const results = await Promise.allSettled([search("a"), search("b"), search("c")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const wanted = ["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]);
    expect(running).toEqual(wanted);
  });

  test("refuses more than 64, and does not begin one that was aborted", async () => {
    const queue = new SearchQueue();
    let begun = 0;
    const gate = Promise.withResolvers<void>();
    const aborted = new AbortController();
    const all = Array.from({ length: 64 }, (_, index) =>
      queue.run(
        async () => {
          begun += 1;
          await gate.promise;
        },
        index === 1 ? aborted.signal : undefined,
      ),
    );
    await expect(queue.run(async () => {})).rejects.toThrow(StatsWorkerBusy);
    aborted.abort();
    gate.resolve();
    const ends = await Promise.allSettled(all);
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(begun).toBe(63);
    expect(await queue.run(async () => "again")).toBe("again");
  });
});
