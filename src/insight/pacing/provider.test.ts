/**
 * The published figures of the controller, start by start. They repeat exactly, or the code
 * changed.
 */
import { describe, expect, test } from "vitest";
import type { PoolPolicy } from "../../core/model/policy.ts";
import { providerPolicies, providers, runProvider } from "./provider.ts";

type Row = [Partial<PoolPolicy>, steady: [number, number], failing: [number, number]];

describe("runProvider() counts the throttled starts under", () => {
  const rows: Readonly<Record<string, Row>> = {
    "a plain lease": [providerPolicies.plain, [1440, 1800], [1341, 1800]],
    "a pace that is too fast": [providerPolicies.paced, [1790, 1800], [450, 1800]],
    "a rate that finds itself": [providerPolicies.adaptive, [53, 1226], [32, 1464]],
    "one that is halved": [providerPolicies.adaptiveHalf, [30, 1077], [18, 1398]],
    "one that rises unused": [providerPolicies.adaptiveBlind, [53, 1226], [60, 1476]],
  };
  test.each(Object.entries(rows))("%s", (_, [policy, steady, failing]) => {
    const [even, fallen] = [providers.steady, providers.failing].map((provider) => {
      const { throttled, starts } = runProvider(provider, policy);
      return [throttled, starts];
    });
    expect({ even, fallen }).toEqual({ even: steady, fallen: failing });
  });
});

const minute = 60_000;

test("the first cut comes after five minutes, and the rate settles near the limit of the provider", () => {
  const { rates } = runProvider(providers.steady, providerPolicies.adaptive);
  expect(rates[1]).toEqual({ at: 5 * minute, rate: 1.75 });
  const settled = rates.filter(({ at }) => at > 60 * minute).map(({ rate }) => rate);
  expect(Math.min(...settled)).toBeGreaterThanOrEqual(1.39);
  expect(Math.max(...settled)).toBeLessThanOrEqual(2.06);
});

test("three cuts within about twelve minutes follow a provider whose limit falls", () => {
  const { rates } = runProvider(providers.failing, providerPolicies.adaptive);
  const fall = 6 * 60 * minute;
  const soon = rates.filter(({ at }) => at >= fall && at < fall + 12.5 * minute);
  expect(soon).toHaveLength(3);
});

test("a rate that is not used does not increase", () => {
  const highest = (policy: Partial<PoolPolicy>) =>
    Math.max(...runProvider(providers.failing, policy).rates.map(({ rate }) => rate));
  expect(highest(providerPolicies.adaptiveBlind)).toBe(6);
  expect(highest(providerPolicies.adaptive)).toBeLessThan(3);
});
