import { expect, test } from "vitest";
import { Query } from "./wire.ts";

test.each([
  ["/acquire", ""],
  ["/acquire?", ""],
  ["/acquire?k", ""],
  ["/acquire?k=v", "v"],
  ["/acquire?a=b&k=v&c", "v"],
  ["/acquire?k=v&k=w", "v"],
  ["/acquire?k=&k=w", ""],
  ["/acquire?k&k=w", ""],
  ["/acquire?%6B=v", "v"],
  ["/acquire?k=a+b%20c%2Bd", "a b c+d"],
  ["/acquire?k=a=b?c/d", "a=b?c/d"],
  ["/acquire?k=%E2%82%AC", "€"],
  // What is not well encoded is dropped, and the next one counts.
  ["/acquire?k=%zz&k=w", "w"],
  ["/acquire?k=100%&k=w", "w"],
  ["/acquire?%zz=x&k=w", "w"],
  // Pairs with a semicolon are dropped whole.
  ["/acquire?k=a;b&k=w", "w"],
  ["/acquire?k=a;k=w", ""],
  ["/acquire?x=1;k=a&k=w", "w"],
  // To Go these are bytes; here they are at least a value.
  ["/acquire?k=%FFa+b", "\uFFFDa b"],
  ["/acquire?k=%ff%E2%82%AC", "\uFFFD€"],
])("Query reads the key of %s", (url, value) => {
  expect(new Query(url).get("k")).toBe(value);
});
