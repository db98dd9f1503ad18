import { expect, test } from "vitest";
import { searchChoices } from "./search-choices.ts";

const found = (kind: string, name: string) => ({ kind, name, title: name });

test("searchChoices() has some of each kind, however many pools there are", () => {
  const pools = Array.from({ length: 20 }, (_, index) => found("pool", `aws-${index}`));
  const others = ["resource", "request", "lease"].map((kind) => found(kind, "aws-x"));
  const chosen = searchChoices([], [...pools, ...others], "aws", 8);
  expect(chosen.map(({ kind }) => kind).join(" ")).toBe(
    "pool pool pool pool pool resource request lease",
  );
});

test("searchChoices() begins with what is called so, whatever its kind", () => {
  const views = [found("view", "Audit")];
  const hits = [found("pool", "audio"), found("lease", "aud")];
  expect(searchChoices(views, hits, "Aud", 8).map(({ name }) => name)).toEqual([
    ...["aud", "Audit", "audio"],
  ]);
});
