import { expect, test } from "vitest";
import { simulate } from "./simulation.ts";

const seeds = Array.from({ length: 60 }, (_, index) => 1 + index * 7);

test("dropping all caches at random moments changes no decision", {
  timeout: 300_000,
}, async () => {
  for (const seed of seeds) {
    const { digest } = await simulate(seed);
    const dropped = await simulate(seed, {}, { dropCaches: true });
    expect(dropped.digest, `seed ${seed}: a decision depends on a cache`).toBe(digest);
  }
});
