import { expect, test } from "vitest";
import { wantsColour } from "./screen.ts";

test.each([
  ["berth's own flag", ["--no-color", "status"], false],
  ["berth's own flag before --", ["run", "--no-color", "--", "ls"], false],
  ["the user's command after --", ["run", "--pool", "a", "--", "ls", "--no-color"], true],
  ["no flag", ["status"], true],
])("wantsColour() reads --no-color of %s", (_, argv, want) => {
  expect(wantsColour(argv)).toBe(want);
});
