import { expect, test } from "vitest";
import { poolAnswer } from "../../api/pool-answer.suite.ts";
import type { Pool } from "../../api/schemas.ts";
import { nameWithMarks } from "./pools.ts";
import { bar, columnsFor, replicasLine } from "./status.ts";

function pool(total: number, free: number, held: number): Pool {
  return poolAnswer({ total, free, held, states: { free, busy: held } });
}

const bars: Record<string, [pool: Pool, want: string]> = {
  "an empty pool": [pool(0, 0, 0), "............"],
  "all free": [pool(4, 4, 0), "............"],
  "all held": [pool(4, 0, 4), "############"],
  "half held": [pool(4, 2, 2), "######......"],
  "one of very many": [pool(1_000, 999, 1), "#..........."],
  "all but one of very many": [pool(1_000, 1, 999), "###########."],
  "held, out and free": [pool(3, 1, 1), "####xxxx...."],
  "held with one out": [pool(1_000, 0, 999), "###########x"],
};
test.each(Object.entries(bars))("bar() shows %s", (_, [of, want]) => {
  expect(bar(of, false)).toBe(want);
});

test("status and pools mark a pool that is suspended", () => {
  const suspended = { since: "2031-02-03T04:05:06Z", why: "a bug" };
  const screen = { colour: false, unicode: false, width: () => 100, height: () => 30 };
  const columns = columnsFor(screen, { known: false, heldIn: () => [] });
  const nameIn = (of: Pool) => columns[0]?.cell(of);
  const ordinary = poolAnswer();
  expect(nameIn(ordinary)).toBe(ordinary.name);
  expect(nameWithMarks(ordinary)).toBe(ordinary.name);
  expect(nameIn(poolAnswer({ suspended }))).toBe(`${ordinary.name} (suspended)`);
  expect(nameWithMarks(poolAnswer({ suspended }))).toBe(`${ordinary.name} (suspended)`);
});

test("replicasLine() leaves out a server that was started again at its address", () => {
  const known = (id: string, address: string, startedAt: string, silentSeconds: number) => ({
    ...{ id, address, version: "1", leads: id === "new", startedAt },
    ...{ lastEvent: 1, behindEvents: 0, silentSeconds },
  });
  const line = replicasLine({
    ...{ self: "new", leader: "new", leadsSince: null, epoch: 1, notified: true, staleSeconds: 0 },
    replicas: [
      known("old", "http://a", "2031-02-03T04:05:06Z", 90),
      known("new", "http://a", "2031-02-03T04:06:06Z", 0),
      known("gone", "http://b", "2031-02-03T04:05:06Z", 90),
    ],
  });
  expect(line).toBe("new leads; gone silent for 1m30s");
});
