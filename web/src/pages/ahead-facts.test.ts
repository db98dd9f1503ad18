import { expect, test } from "vitest";
import { aheadWords, groupsAhead } from "./ahead-facts.ts";

const request = (space: string | undefined, priority = 0) => ({
  ...(space === undefined ? {} : { space }),
  priority,
});

test("groupsAhead() groups those ahead by the rule that puts them there, and by space", () => {
  const ahead = [
    ...[request("web", 5), request("payments"), request("payments")],
    ...[request("ops"), request("platform")],
  ];
  expect(groupsAhead(request("platform"), ahead)).toEqual([
    { why: "priority", count: 1, spaces: [["web", 1]] },
    {
      why: "share",
      count: 3,
      spaces: [
        ["payments", 2],
        ["ops", 1],
      ],
    },
    { why: "earlier", count: 1, spaces: [["platform", 1]] },
  ]);
  expect(groupsAhead(request(undefined), [request(undefined)])).toEqual([
    { why: "earlier", count: 1, spaces: [] },
  ]);
});

test("groupsAhead() knows starved requests: among them the first that came goes first", () => {
  const starved = { ...request("ops"), starved: true };
  expect(groupsAhead(request("web"), [starved, request("payments")])).toEqual([
    { why: "starved", count: 1, spaces: [["ops", 1]] },
    { why: "share", count: 1, spaces: [["payments", 1]] },
  ]);
  expect(groupsAhead({ ...request("web"), starved: true }, [starved])).toEqual([
    { why: "earlier", count: 1, spaces: [["ops", 1]] },
  ]);
});

const shares = new Map([
  ["payments", 0.4],
  ["platform", 1],
]);

test.each([
  [{ why: "earlier", count: 1_086, spaces: [] }, "1,086 came earlier"],
  [
    {
      why: "share",
      count: 3,
      spaces: [
        ["payments", 2],
        ["new", 1],
      ],
    },
    "3 by fair share (2 of payments, share 0.4; 1 of new; its own space has 1)",
  ],
  [{ why: "priority", count: 2, spaces: [["web", 2]] }, "2 by priority (2 of web)"],
  [
    { why: "starved", count: 1, spaces: [["ops", 1]] },
    "1 because their space got nothing for the patience of a pool (1 of ops)",
  ],
  [{ why: "priority", count: 2, spaces: [] }, "2 by priority"],
] as const)("aheadWords() of %j", (ahead, words) => {
  expect(aheadWords(ahead, "platform", shares)).toBe(words);
});
