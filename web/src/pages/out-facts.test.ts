import { expect, test } from "vitest";
import type { Resource } from "../../../src/api/schemas.ts";
import { countOut, outIn, whyOut } from "./out-facts.ts";

const one = (name: string, state: string, changedAt = "") =>
  ({ name, state, changedAt }) as Resource;

test("outIn() has what somebody must decide on, the latest first", () => {
  const resources = [
    ...[one("a", "free"), one("b", "quarantined", "09:00"), one("c", "cleaning", "11:00")],
    ...[one("d", "drained", "10:00"), one("e", "dirty"), one("f", "busy")],
  ];
  expect(outIn(resources).map(({ name }) => name)).toEqual(["d", "b"]);
  expect(countOut({ free: 3, quarantined: 2, drained: 1, cleaning: 4 })).toBe(3);
});

test.each([
  [{ note: "disk broken\nsee the ticket" }, "disk broken"],
  [{ note: "The command exited with 1\nlisting\nVolumeInUse" }, "VolumeInUse"],
  [{ note: "new disk", drainedBy: { by: "ann", why: "new disk", at: "" } }, "By ann: new disk"],
  [{ note: "" }, ""],
])("whyOut() of %o", (resource, want) => {
  expect(whyOut(resource)).toBe(want);
});
