import { describe, expect, test } from "vitest";
import { ArrivalSamples, type Ended } from "./arrival-samples.ts";

function ended(id: string, askedAt: number, more: Partial<Ended> = {}): Ended {
  const asked = { id, askedAt, space: "payments", priority: 0, asked: null };
  return { ...asked, pool: "aws", count: 1, endedAt: askedAt + 5, ...more };
}

describe("ArrivalSamples", () => {
  test("has one request for all its claims", () => {
    const samples = new ArrivalSamples();
    for (const pool of ["aws", "aws", "slots"]) samples.record(ended("a", 10, { pool }));
    const items = [
      { pool: "aws", count: 2 },
      { pool: "slots", count: 1 },
    ];
    const a = { id: "a", askedAt: 10, space: "payments", priority: 0, items };
    expect(samples.of(["aws", "slots"])).toEqual({ since: 10, ended: [a] });
  });

  test("has what a request asked for, if its claims do not say all of it", () => {
    const samples = new ArrivalSamples();
    const items = [{ pool: "aws", count: 1, amount: { vcpus: 4 } }];
    samples.record(ended("a", 10, { asked: { items } }));
    expect(samples.of(["aws"]).ended).toMatchObject([{ id: "a", items }]);
  });

  test("has all that came since the oldest end that it still knows", () => {
    const samples = new ArrivalSamples();
    for (let at = 1; at <= 150; at++) samples.record(ended(`r${at}`, at * 10));
    const { since, ended: found } = samples.of(["aws"]);
    // The last hundred ended; the request of 510 ended at 515.
    expect(since).toBe(515);
    expect(found.map(({ askedAt }) => askedAt)).toEqual(
      Array.from({ length: 99 }, (_, index) => 520 + index * 10),
    );
  });

  test("knows nothing of pools without requests", () => {
    expect(new ArrivalSamples().of(["aws"])).toEqual({ since: Infinity, ended: [] });
  });
});
