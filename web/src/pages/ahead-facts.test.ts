import { expect, test } from "vitest";
import { aheadWords, groupsAhead } from "./ahead-facts.ts";

const request = (space: string | undefined, priority = 0, second = 0) => ({
  ...(space === undefined ? {} : { space }),
  priority,
  queuedAt: new Date(Date.UTC(2030, 0, 1, 12, 0, second)).toISOString(),
});
const unknown = new Map<string, number>();

test("groupsAhead() groups those ahead by the rule that puts them there, and by space", () => {
  const ahead = [
    ...[request("web", 5), request("payments"), request("payments")],
    ...[request("ops"), request("platform")],
  ];
  expect(groupsAhead(request("platform"), ahead, unknown)).toEqual([
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
  expect(groupsAhead(request(undefined), [request(undefined)], unknown)).toEqual([
    { why: "earlier", count: 1, spaces: [] },
  ]);
});

test("groupsAhead() knows starved requests: among them the first that came goes first", () => {
  const starved = { ...request("ops"), starved: true };
  expect(groupsAhead(request("web"), [starved, request("payments")], unknown)).toEqual([
    { why: "starved", count: 1, spaces: [["ops", 1]] },
    { why: "share", count: 1, spaces: [["payments", 1]] },
  ]);
  expect(groupsAhead({ ...request("web"), starved: true }, [starved], unknown)).toEqual([
    { why: "earlier", count: 1, spaces: [["ops", 1]] },
  ]);
});

const shares = new Map([
  ["payments", 0.4],
  ["platform", 1],
]);

test("groupsAhead() says by share only if the share is lower: others came earlier, or fit sooner", () => {
  const ahead = [
    ...[request("payments"), request("ops", 0, 1), request("ops", 0, 9)],
    ...[request("platform", 0, 1), request("platform", 0, 9), request("web", -1)],
  ];
  const known = new Map([...shares, ["ops", 1] as const]);
  const groups = groupsAhead(request("platform", 0, 5), ahead, known);
  expect(groups.map(({ why, count }) => `${count} ${why}`)).toEqual([
    ...["1 share", "2 earlier", "3 sooner"],
  ]);
});

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
    "3 of spaces with a lower share (2 of payments: 0.4; 1 of new; its own, platform: 1)",
  ],
  [{ why: "priority", count: 2, spaces: [["web", 2]] }, "2 of web by priority"],
  [
    { why: "starved", count: 1, spaces: [["ops", 1]] },
    "1 of ops, whose space got nothing of a pool for too long",
  ],
  [{ why: "priority", count: 2, spaces: [] }, "2 by priority"],
  [
    { why: "share", count: 2, spaces: [["payments", 2]] },
    "2 of a space with a lower share (payments: 0.4; its own, platform: 1)",
  ],
  [{ why: "sooner", count: 1, spaces: [] }, "1 is expected to start sooner"],
] as const)("aheadWords() of %j", (ahead, words) => {
  expect(aheadWords(ahead, "platform", shares)).toBe(words);
});
