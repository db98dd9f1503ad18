import { expect, test } from "vitest";
import { aheadOf, aheadWords, spacesAheadWords } from "./ahead-facts.ts";

const request = (id: string, position: number, space?: string, priority = 0) => ({
  ...{ id, position, priority, queuedAt: "2026-11-17T12:00:00.000Z" },
  ...(space === undefined ? {} : { space }),
});

const queue = [
  request("a", 1, "web", 5),
  request("b", 2, "payments"),
  request("c", 3, "payments"),
  request("d", 4, "platform"),
  request("e", 5, "platform"),
  request("f", 6, "platform"),
];

test("aheadOf() groups those ahead by space and by what puts them there", () => {
  expect(aheadOf(queue[4] ?? request("", 0), queue)).toEqual([
    { space: "payments", why: "share", count: 2 },
    { space: "platform", why: "earlier", count: 1 },
    { space: "web", why: "priority", count: 1 },
  ]);
});

const shares = new Map([
  ["payments", 0.4],
  ["platform", 1],
  ["web", 1],
  ["ops", 2],
]);

test.each([
  [{ space: "platform", why: "earlier", count: 86 }, "86 of platform that came earlier"],
  [
    { space: "payments", why: "share", count: 1_115 },
    "1,115 of payments, whose share is lower (0.4, its own 1)",
  ],
  [{ space: "web", why: "share", count: 1 }, "1 of web that came earlier, with the same share"],
  [{ space: "ops", why: "share", count: 1 }, "1 of ops, whose share was lower"],
  [{ space: "new", why: "share", count: 1 }, "1 of new, whose share is lower"],
  [{ space: "web", why: "priority", count: 2 }, "2 of web with a higher priority"],
  [{ space: "", why: "earlier", count: 3 }, "3 that came earlier"],
] as const)("aheadWords() of %j", (ahead, words) => {
  expect(aheadWords(ahead, "platform", shares)).toBe(words);
});

test("spacesAheadWords() says which spaces are ahead of each", () => {
  expect([...spacesAheadWords(queue)]).toEqual([
    ["b", "1 ahead, of web"],
    ["c", "2 ahead: 1 of its own space, 1 of web"],
    ["d", "3 ahead: 2 of payments, 1 of web"],
    ["e", "4 ahead: 1 of its own space, 2 of payments, 1 of web"],
    ["f", "5 ahead: 2 of its own space, 2 of payments, 1 of web"],
  ]);
});

test("spacesAheadWords() is silent about one space, and where some are not listed", () => {
  const known = [spacesAheadWords(queue.slice(3)), spacesAheadWords([request("a", 1, "web")])];
  expect(known.map(({ size }) => size)).toEqual([0, 0]);
});
