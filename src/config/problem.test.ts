import { expect, test } from "vitest";
import { formatPath, formatProblem, type Path } from "./document.ts";

const paths: readonly (readonly [Path, string])[] = [
  [[], ""],
  [["pools", "aws", "ttl"], "pools.aws.ttl"],
  [["pools", "aws", "members", 2], "pools.aws.members[2]"],
  [["pools", "1.10", "ttl"], 'pools["1.10"].ttl'],
  [["", "a\nb"], '[""]["a\\nb"]'],
];

test.each(paths)("formatPath() writes %j as %s", (path, want) => {
  expect(formatPath(path)).toBe(want);
});

test("formatProblem() names no place in a file that could not be read", () => {
  const problem = { file: "b.yaml", path: "", message: "Cannot read the file", hint: "look" };
  expect(formatProblem({ ...problem, line: 0, column: 0 })).toBe(
    "b.yaml: Cannot read the file (look)",
  );
  expect(formatProblem({ ...problem, line: 7, column: 12 })).toBe(
    "b.yaml:7:12: Cannot read the file (look)",
  );
});
