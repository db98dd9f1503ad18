import { expect, test } from "vitest";
import { Settle } from "./file-watch.ts";

type Step = readonly [content: string, want: ReturnType<Settle["look"]>];

const histories: Readonly<Record<string, readonly Step[]>> = {
  "believes nothing new at first sight": [["new", "look-again"]],
  "believes what it sees twice in a row, once": [
    ["new", "look-again"],
    ["new", "changed"],
    ["new", "unchanged"],
  ],
  "ignores a touch": [
    ["old", "unchanged"],
    ["old", "unchanged"],
  ],
  "waits for the last of several pieces": [
    ["n", "look-again"],
    ["ne", "look-again"],
    ["new", "look-again"],
    ["new", "changed"],
  ],
  "forgets what was gone before it settled": [
    ["new", "look-again"],
    ["old", "unchanged"],
    ["new", "look-again"],
    ["new", "changed"],
  ],
  "tells of a change back": [
    ["new", "look-again"],
    ["new", "changed"],
    ["old", "look-again"],
    ["old", "changed"],
  ],
};

test.each(Object.entries(histories))("Settle %s", (_, steps) => {
  const settle = new Settle("old");
  expect(steps.map(([content]) => settle.look(content))).toEqual(steps.map(([, want]) => want));
});
