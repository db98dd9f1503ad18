import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { OutputEnd } from "./output-end.ts";

/** Without what waits for the garbage collector. */
function memoryInUse(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("keeps the end of an output, and counts all of it", () => {
  const output = new OutputEnd(10);
  for (let n = 0; n < 50_000; n += 1) output.add(Buffer.from(`line ${n}\n`));
  expect(output.text()).toBe("ine 49999\n");
  expect(output.total).toBe(538_890);
});

test("holds little of an output of 100 MB", () => {
  const output = new OutputEnd(4_096);
  const before = memoryInUse();
  for (let n = 0; n < 1_600; n += 1) output.add(Buffer.alloc(65_536, "x"));
  expect(memoryInUse() - before).toBeLessThan(20_000_000);
  expect(output.total).toBe(104_857_600);
});
