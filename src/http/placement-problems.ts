/** Why a share of a resource can never be lent, with the numbers. */
import { Problem } from "../api/problem.ts";
import type { Refusal } from "../core/model/outcome.ts";

const codes = [
  "amount_too_large",
  "too_few_eligible",
  "never_fits_together",
  "strategy_not_allowed",
  "lent_whole",
  "lent_by_amount",
  "amount_missing",
  "dimension_unknown",
] as const;

export type NotPlaced = Extract<Refusal, { code: (typeof codes)[number] }>;

export function isNotPlaced(refusal: Refusal): refusal is NotPlaced {
  return codes.some((code) => code === refusal.code);
}

export function notPlaced(refusal: NotPlaced): Problem {
  const { message, hint } = wordsOf(refusal);
  const { code, ...facts } = refusal;
  return new Problem({ code, status: 422, message, hint, facts });
}

function wordsOf(refusal: NotPlaced): { readonly message: string; readonly hint: string } {
  switch (refusal.code) {
    case "amount_too_large": {
      const { pool, dimension, asked, largest, resource } = refusal;
      const who =
        resource === undefined
          ? `the largest eligible resource has ${largest}`
          : `no resource has enough of everything, and ${resource}, which comes nearest, has ${largest}`;
      return {
        message: `Cannot ever grant ${asked} ${dimension} of ${pool}: ${who}`,
        hint: largest === 0 ? "Choose another pool" : `Ask for ${largest} at the most`,
      };
    }
    case "too_few_eligible":
      return tooFew(refusal);
    case "never_fits_together":
      return {
        message: `Cannot ever grant all ${refusal.items} items of ${refusal.pool}: each fits, but not beside the others`,
        hint: "Ask for less, or for the items one after the other",
      };
    case "strategy_not_allowed":
      return {
        message: `Cannot place by ${refusal.strategy} in ${refusal.pool}: it allows ${refusal.known.join(", ")}`,
        hint: "Leave strategy out, or have it added to the strategies of the pool",
      };
    case "lent_whole":
      return {
        message: `Cannot use ${refusal.key} in ${refusal.pool}: its resources are lent whole`,
        hint: "Ask with count, selector or resource",
      };
    case "lent_by_amount":
      return {
        message: `Cannot lend a resource of ${refusal.pool} whole: they are lent by amount`,
        hint: "Ask with amount, without state and into",
      };
    case "amount_missing": {
      const [first = "vcpus"] = refusal.known;
      return {
        message: `Cannot lend a share of ${refusal.pool}: the amount is missing`,
        hint: `Say how much of ${refusal.known.join(", ")}, such as amount: { "${first}": 1 }`,
      };
    }
    case "dimension_unknown": {
      const { dimension, pool, known, nearest } = refusal;
      const others = `its dimensions are ${known.join(", ")}`;
      return {
        message: `Cannot lend "${dimension}" of ${pool}: ${others}`,
        hint: nearest === undefined ? `Ask for ${known.join(", ")}` : `Did you mean ${nearest}?`,
      };
    }
  }
}

const whyUnfit: Readonly<Record<string, string>> = {
  excluded: "lent by name only",
  not_the_one: "not the one that is asked for",
  unwanted: "not wanted",
  label: "without the labels of the selector",
  taint: "tainted",
  no_label: "without the label to spread over",
};

function tooFew(refusal: Extract<NotPlaced, { code: "too_few_eligible" }>) {
  const { pool, asked, possible, large, eligible, total, unfit, nearest } = refusal;
  const reasons = Object.entries(unfit).map(([why, count]) => `${count} ${whyUnfit[why] ?? why}`);
  const others = reasons.length === 0 ? "" : ` (${reasons.join(", ")})`;
  const sizes = large === eligible ? "" : `, ${large} of them large enough`;
  const message =
    `Cannot ever grant ${asked} of ${pool} at once: ${possible} at the most, ` +
    `because ${eligible} of ${total} are eligible${others}${sizes}`;
  if (nearest !== undefined) return { message, hint: `Did you mean ${nearest}?` };
  const hint =
    possible > 0
      ? `Ask for ${possible} at the most, or for fewer conditions`
      : "Change the selector, tolerations, resource or exclude";
  return { message, hint };
}
