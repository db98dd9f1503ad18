import { expect, test } from "vitest";
import { poolAnswer } from "../../../src/api/pool-answer.suite.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { sharersOf } from "./limit-facts.ts";

const limit = { used: 3, limit: 5, waiting: 0, oldestWaitSeconds: null };
const pool = (name: string, parent: string | null, held: number, more: Partial<Pool> = {}) => {
  const answer = poolAnswer({ name, held, ...more });
  return { ...answer, policy: { ...answer.policy, parent } };
};

test("sharersOf() has all pools below a limit, at any level, with the largest first", () => {
  const pools = [
    pool("cloud", null, 0, { limit }),
    pool("region", "cloud", 0, { limit }),
    pool("east", "region", 1),
    pool("west", "region", 2),
    pool("other", null, 9),
  ];
  expect(sharersOf("cloud", pools)).toEqual([
    { name: "west", held: 2, total: 10 },
    { name: "east", held: 1, total: 10 },
  ]);
  expect(sharersOf("east", pools)).toEqual([]);
});

test("sharersOf() counts the pool itself if it has resources, and survives a circle", () => {
  const pools = [
    pool("own", null, 4),
    pool("below", "own", 1),
    pool("a", "b", 1),
    pool("b", "a", 1),
  ];
  expect(sharersOf("own", pools).map(({ name }) => name)).toEqual(["own", "below"]);
});
