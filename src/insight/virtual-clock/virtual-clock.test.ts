import { beforeEach, describe, expect, test } from "vitest";
import { emptyState } from "../../core/apply/create.ts";
import { acquire, pool, release } from "../../core/decide/lending.suite.ts";
import { type Instant, never } from "../../core/model/time.ts";
import { VirtualClock } from "./virtual-clock.ts";

const at = (time: number) => time as Instant;

let lines: string[];
let clock: VirtualClock;

/** One resource with a cooldown of 10 s, and leases with a ttl of 60 s. */
beforeEach(() => {
  lines = [];
  clock = new VirtualClock(emptyState(), at(0), (events, time) => {
    for (const event of events) {
      if (event.type.startsWith("lease-") && "id" in event) {
        lines.push(`${time} ${event.id} ${event.type.slice("lease-".length)}`);
      }
    }
  });
  const policy = { ttlMs: 60_000, cooldownMs: 10_000 };
  clock.do({ type: "configure", pools: [pool("aws", 1, policy)] });
});

describe("VirtualClock", () => {
  test("runs nothing before its time, and everything at it", () => {
    clock.do(acquire("a", "aws"));
    clock.plan(at(5_000), release("a"));
    clock.passTo(at(4_999));
    expect([clock.now, lines]).toEqual([4_999, ["0 a granted"]]);
    clock.passTo(at(5_000));
    expect(lines).toEqual(["0 a granted", "5000 a ended"]);
  });

  test("runs deadlines on the way at their own time", () => {
    clock.do(acquire("a", "aws"));
    clock.do(acquire("b", "aws", { ttlMs: 200_000 }));
    clock.plan(at(1_000), release("a"));
    clock.passTo(at(100_000));
    expect(lines).toEqual(["0 a granted", "1000 a ended", "11000 b granted"]);
  });

  test("runs a deadline ahead of a command for the same instant", () => {
    clock.do(acquire("a", "aws"));
    clock.plan(at(60_000), release("a"));
    clock.plan(at(60_000), acquire("b", "aws"));
    clock.passTo(at(60_000));
    expect(lines).toEqual(["0 a granted", "60000 a ended"]);
    const expired = clock.state.ended.get("a" as never)?.how;
    expect(expired).toBe("expired");
  });

  test("keeps the order of commands for the same instant", () => {
    for (const id of ["a", "b", "c"]) clock.plan(at(1_000), acquire(id, "aws"));
    clock.passTo(at(1_000));
    expect(lines).toEqual(["1000 a granted"]);
    expect([...clock.state.requests.keys()]).toEqual(["b", "c"]);
  });

  test("runs a command for a past time now, and never moves the time back", () => {
    clock.passTo(at(50_000));
    clock.plan(at(10_000), acquire("a", "aws"));
    clock.passTo(at(40_000));
    expect([clock.now, lines]).toEqual([50_000, ["50000 a granted"]]);
  });

  test("allows the callback to plan more commands", () => {
    const ends: number[] = [];
    const own: VirtualClock = new VirtualClock(emptyState(), at(0), (events, time) => {
      for (const event of events) {
        if (event.type === "lease-granted") own.plan(at(time + 7_000), release(event.id));
        if (event.type === "lease-ended") ends.push(time);
      }
    });
    own.do({ type: "configure", pools: [pool("aws", 1)] });
    own.do(acquire("a", "aws"));
    own.do(acquire("b", "aws"));
    own.passTo(at(20_000));
    expect(ends).toEqual([7_000, 14_000]);
  });

  test("step() runs one event at a time, until nothing is left", () => {
    clock.do(acquire("a", "aws"));
    clock.plan(at(5_000), release("a"));
    expect([clock.nextAt, clock.step(at(4_999)), clock.now]).toEqual([5_000, false, 0]);
    expect([clock.step(), clock.now]).toEqual([true, 5_000]);
    expect([clock.nextAt, clock.step(), clock.now]).toEqual([15_000, true, 15_000]);
    expect([clock.nextAt, clock.step(), clock.now]).toEqual([never, false, 15_000]);
  });
});
