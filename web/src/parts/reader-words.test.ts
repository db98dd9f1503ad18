import { expect, test } from "vitest";
import { readerWords } from "./reader-words.ts";

test.each([
  ["without auth", null, false, /^Your name .*\. Everybody can read them\.$/],
  ["of a resource", "ada", false, /^The name ada .* event, for those who see all spaces\.$/],
  ["of a lease", "ada", true, /event, for its space and those who see all spaces\.$/],
])("readerWords() %s", (_, signedInAs, isOfSpace, want) => {
  expect(readerWords(signedInAs, isOfSpace)).toMatch(want);
});
