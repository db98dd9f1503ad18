import fc from "fast-check";
import { expect, test } from "vitest";
import type { Instant } from "../../core/model/time.ts";
import { timestamp } from "../timestamp.ts";

test("timestamp() writes what Date writes, in whatever order it is asked", () => {
  const anyTime = fc.integer({ min: 0, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(fc.array(anyTime, { minLength: 1, maxLength: 20 }), (times) => {
      for (const time of times) {
        expect(timestamp(time as Instant)).toBe(new Date(time).toISOString());
      }
    }),
  );
});
