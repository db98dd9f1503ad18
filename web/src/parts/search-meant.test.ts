import { expect, test } from "vitest";
import { viewsFor } from "../view-list.ts";
import { meantBy } from "./search-meant.ts";

const views = viewsFor({ authentication: true });

test.each([
  ["a name that the server knows", "qeue", "queue-1", "/search?q=queue-1"],
  ["a view", "qeue", undefined, "/queue"],
  ["a view of two words", "out of servce", undefined, "/out"],
  ["nothing near", "kubernetes", undefined, undefined],
])("meantBy() finds %s", (_, text, name, href) => {
  expect(meantBy(text, name, views)?.href).toBe(href);
});
