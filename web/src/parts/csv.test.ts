import { expect, test } from "vitest";
import { csvOf } from "./csv.ts";

test.each([
  [[["a", 1, null]], "a,1,\r\n"],
  [[['say "hi", twice', "two\nlines"]], '"say ""hi"", twice","two\nlines"\r\n'],
  [[["=HYPERLINK(1)", "-1", "@x"]], "'=HYPERLINK(1),'-1,'@x\r\n"],
])("csvOf(%j)", (rows, want) => {
  expect(csvOf(rows)).toBe(want);
});
