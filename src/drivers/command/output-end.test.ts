import { expect, test } from "vitest";
import { OutputEnd } from "./output-end.ts";

test("keeps the end of an output, and counts all of it", () => {
  const output = new OutputEnd(10);
  for (let n = 0; n < 50_000; n += 1) output.add(Buffer.from(`line ${n}\n`));
  expect(output.text()).toBe("ine 49999\n");
  expect(output.total).toBe(538_890);
});

test("never holds much of an output of 100 MB", () => {
  const output = new OutputEnd(4_096);
  const chunk = Buffer.alloc(65_536, "x");
  let most = 0;
  for (let n = 0; n < 1_600; n += 1) {
    output.add(chunk);
    most = Math.max(most, output.kept);
  }
  expect(output.total).toBe(104_857_600);
  expect(most).toBeLessThan(200_000);
  expect(output.text()).toHaveLength(4_096);
});
