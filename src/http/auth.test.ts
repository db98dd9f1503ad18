import { expect, test } from "vitest";
import { isLoopback } from "./request.ts";

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["", false],
  ["10.0.0.1", false],
  ["128.0.0.1", false],
  ["1127.0.0.1", false],
  ["::ffff:10.127.0.1", false],
  ["::2", false],
  ["localhost", false],
])("isLoopback() of %j is %j", (address, want) => {
  expect(isLoopback(address)).toBe(want);
});
