import { expect, test } from "vitest";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { positionThere, queueFacts } from "./queue-facts.ts";

const request = (id: string, second: number, code: string) =>
  ({
    ...{ id, queuedAt: `2030-01-01T12:00:0${second}.000Z` },
    reason: { code, message: "cloud-api limit reached (11/11); 2 ahead" },
  }) as WaitingRequest;

test("queueFacts() finds the longest wait, the most frequent reason and the late ones", () => {
  const queue = [
    request("a", 3, "paced"),
    request("b", 1, "no_free"),
    request("c", 2, "no_free"),
    request("d", 4, "admission"),
  ];
  const paces = [...queue, request("e", 5, "limit_reduced"), request("f", 6, "limit_reduced")];
  const { oldest, cause, late } = queueFacts(queue, ({ id }) => id > "b");
  expect([oldest?.id, cause, late]).toEqual(["b", { what: "a free resource", count: 2 }, 2]);
  expect(queueFacts(paces, () => false).cause).toEqual({ what: "the pace", count: 3 });
  const limited = [request("g", 7, "limit_reached")];
  expect(queueFacts(limited, () => false).cause).toEqual({
    ...{ what: "the limit cloud-api", limit: "cloud-api", count: 1 },
  });
  expect(queueFacts([], () => true)).toEqual({ oldest: undefined, cause: undefined, late: 0 });
});

test.each([
  ["All 3 of aws are held; 2 ahead", 2, 3],
  ["All 3 of aws are held; 1,204 ahead", 2, 1_205],
  ["No aws is free; next in line", 2, 1],
  ["The check has admitted no request yet", 2, 30],
  ["All 3 of aws are held; 2 ahead", 1, 30],
])("positionThere() of %s, for %i pools", (message, pools, want) => {
  const items = Array.from({ length: pools }, () => ({ pool: "aws" })) as WaitingRequest["items"];
  const reason = { code: "no_free", pool: "aws", message };
  expect(positionThere({ items, position: 30, reason })).toBe(want);
});
