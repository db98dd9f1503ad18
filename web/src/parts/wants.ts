/** Amounts, labels and names as text: each number with what it is of. */
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { grouped } from "./numbers.ts";

/** `24 vcpus, 1,024 memory`; empty without amounts. */
export function amountText(amount: Readonly<Record<string, number>> | null | undefined): string {
  return Object.entries(amount ?? {})
    .map(([dimension, value]) => `${grouped(value)} ${dimension}`)
    .join(", ");
}

type Item = Partial<Pick<WaitingRequest["items"][number], "amount" | "selector" | "resource">>;

/** The conditions of an item beyond its pool and count: `24 vcpus, region=eu-west`. */
export function conditionsText({ amount, selector, resource }: Item): string {
  const labels = Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const texts = [resource ?? "", amountText(amount), ...labels];
  return texts.filter((text) => text !== "").join(", ");
}
