import { expect, test } from "vitest";
import { defaultPolicy, same } from "../src/core/model/policy.ts";
import { policyFields } from "../src/core/model/policy-fields.ts";
import { Random } from "../src/insight/forecast/random.ts";
import { randomPools, withPreemption } from "./scenario.ts";

/** `boskos-world.ts` has the first two, `cluster-world.ts` the last. No scenario has the retries of a janitor. */
const elsewhere = ["silence", "dynamic", "cleaning", "cluster"];

test("the simulator meets every field of a policy", () => {
  const pools = Array.from({ length: 100 }, (_, seed) => {
    const random = new Random(seed);
    return withPreemption(randomPools(random), random);
  }).flat();
  const fields = Object.keys(policyFields) as (keyof typeof policyFields)[];
  const unmet = fields.filter((field) => {
    return pools.every(({ policy }) => same(policy[field], defaultPolicy[field]));
  });
  expect(unmet, "let randomPolicy() in sim/scenario.ts choose it at times").toEqual(elsewhere);
});
