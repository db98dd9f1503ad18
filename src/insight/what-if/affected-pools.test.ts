import { expect, test } from "vitest";
import { pool } from "../../core/decide/lending.suite.ts";
import type { PoolName } from "../../core/model/ids.ts";
import { reachOf } from "./affected-pools.ts";

const below = (parent: string) => ({ parent: parent as PoolName });
const pools = [
  pool("a", 1),
  pool("b", 1),
  pool("c", 1),
  pool("site", 1),
  pool("x", 1, below("site")),
  pool("y", 1, below("site")),
];
const together = (...names: string[]) => ({ items: names.map((name) => ({ pool: name })) });

const cases: Record<
  string,
  [changed: string[], asked: ReturnType<typeof together>[], want: string[]]
> = {
  "the pool alone": [["a"], [together("a"), together("b", "c")], ["a"]],
  "pools that are requested together with it": [["a"], [together("b", "a")], ["a", "b"]],
  "pools over several steps": [["c"], [together("a", "b"), together("b", "c")], ["a", "b", "c"]],
  "pools that share a limit": [["x"], [], ["site", "x", "y"]],
  "pools that share a limit with a pool requested together with it": [
    ["a"],
    [together("a", "y")],
    ["a", "site", "x", "y"],
  ],
  "all changed pools": [["a", "b"], [], ["a", "b"]],
};
test.each(Object.entries(cases))("reachOf() finds %s", (_, [changed, asked, want]) => {
  expect([...reachOf(changed, pools, asked)].sort()).toEqual(want);
});
