import { expect, test } from "vitest";
import { durationHint } from "./read-values.ts";

const otherwise = "write a number and a unit, such as 90s, 20m or 4h";

const hints: Readonly<Record<string, string>> = {
  "10 minutes": "write 10m",
  "1 hour, 30 mins": "write 1h30m",
  "1 hour and 5 seconds": "write 1h5s",
  "2 weeks": "write 14d",
  "500 millis": "write 500ms",
  "1.5 Hours": "write 1.5h",
  "3 fortnights": otherwise,
  soon: otherwise,
  "": otherwise,
  "-5m": otherwise,
  "90": "add a unit: 90s, 90m or 90h",
};

test.each(Object.entries(hints))("durationHint() says of %j: %s", (written, want) => {
  expect(durationHint(written)).toBe(want);
});
