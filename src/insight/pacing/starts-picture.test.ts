import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runHerd } from "./herd.ts";
import { herdPolicies, sleepers } from "./herd-policies.ts";
import { startsPicture } from "./starts-picture.ts";

const picture = startsPicture([
  { policy: "plain lease, 50", starts: runHerd(herdPolicies.plain) },
  { policy: "clients sleep 0-900 s", starts: runHerd(sleepers(1)) },
  { policy: "pace 24 s, 50", starts: runHerd(herdPolicies.paced) },
]);

test("startsPicture() equals the picture in the guide", async () => {
  const path = new URL("../../../docs/guides/images/starts-per-minute.svg", import.meta.url);
  const hint = "run: berth simulate pacing --svg docs/guides/images/starts-per-minute.svg";
  expect(await readFile(path, "utf8"), hint).toBe(picture);
});

test("startsPicture() has a bar for every minute with a start", () => {
  expect(picture.match(/<rect/g)?.length).toBeGreaterThan(5 + 100);
  expect(picture).toContain("plain lease, 50: up to 50 a minute");
});
