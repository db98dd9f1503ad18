import { expect, test } from "vitest";
import { amountText, conditionsText } from "./wants.ts";

test.each([
  [{}, ""],
  [{ amount: { vcpus: 24, memory: 1_024 } }, "24 vcpus, 1,024 memory"],
  [{ selector: { region: "eu-west" }, resource: "aws-3" }, "aws-3, region=eu-west"],
])("conditionsText(%j) is %j", (item, text) => {
  expect(conditionsText(item)).toBe(text);
});

test("amountText() of no amount is empty", () => {
  expect([amountText(null), amountText(undefined), amountText({})]).toEqual(["", "", ""]);
});
