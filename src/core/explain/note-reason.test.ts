import { expect, test } from "vitest";
import { noteReason } from "./note-reason.ts";

test.each([
  ["", ""],
  ["it failed\ntwice", "it failed"],
  ["The command exited with 1", "The command exited with 1"],
  ["The command exited with 1\nlisting\nvol-1: in use\n\n", "vol-1: in use"],
  ["The command was stopped at its timeout\nstill waiting", "still waiting"],
  ["The commander left\nlong ago", "The commander left"],
])("noteReason(%j) is %j", (note, want) => {
  expect(noteReason(note)).toBe(want);
});
