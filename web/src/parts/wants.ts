/** Amounts, labels and names as text, the same as in `berth queue` and `berth leases`. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";

/** `vcpus 24, memory 96`; empty without amounts. */
export function amountText(amount: Readonly<Record<string, number>> | null | undefined): string {
  return Object.entries(amount ?? {})
    .map(([dimension, value]) => `${dimension} ${value}`)
    .join(", ");
}

type Item = Partial<Pick<WaitingRequest["items"][number], "amount" | "selector" | "resource">>;

/** The conditions of an item beyond its pool and count: `vcpus 24, region=eu-west`. */
export function conditionsText({ amount, selector, resource }: Item): string {
  const labels = Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const texts = [resource ?? "", amountText(amount), ...labels];
  return texts.filter((text) => text !== "").join(", ");
}
