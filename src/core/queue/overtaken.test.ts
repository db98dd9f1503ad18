import { expect, test } from "vitest";
import { acquire, Lending, pool, release } from "../decide/lending.suite.ts";
import { overtakenMax } from "./leftover.ts";

test("serve() grants a request that comes within reach when others are granted", () => {
  const lending = new Lending(pool("aws", 2), pool("gcp", 200));
  lending.outcome(acquire("a1", "aws"), acquire("a2", "aws"));
  for (let number = 0; number <= overtakenMax; number++) {
    lending.do(acquire(`m${number}`, "aws gcp"));
  }
  lending.do(acquire("far", "gcp"));
  expect(lending.held("far")).toBeUndefined();
  lending.outcome(release("a1"), release("a2"));
  expect(lending.line("gcp")).toHaveLength(overtakenMax - 1);
  expect(lending.held("far")).toEqual(["gcp-3"]);
});
