/** The page shows who leads of several servers, and that another one does. */
import { expect } from "vitest";
import { chromiumPath, howToGetChromium, launchChromium } from "./chromium.ts";
import { ReplicaWorld } from "./replica-world.ts";
import { postgresTest as test, testDatabase } from "./test-database.ts";

const database = testDatabase();

test("the page names the server that leads, and the next one when it dies", {
  timeout: 120_000,
}, async (context) => {
  if (chromiumPath === undefined) context.skip(howToGetChromium);
  const { pathname, searchParams } = new URL(database.address());
  await using world = await ReplicaWorld.start(2, {
    port: database.port,
    address: (port) =>
      `postgres://postgres@127.0.0.1:${port}${pathname}?schema=${searchParams.get("schema")}`,
    config: { pools: { aws: { count: 2 } } },
  });
  await using browser = await launchChromium();
  const leader = await world.leader();
  const [follower] = await world.followers();
  if (follower === undefined) throw new Error("Nobody follows");
  const ids = {
    leader: (await world.standing(leader))?.self,
    follower: (await world.standing(follower))?.self,
  };

  const page = await browser.newPage();
  await page.goto(follower.url);
  const row = (id: string | null | undefined) =>
    page
      .getByRole("region", { name: /^Servers/ })
      .getByRole("row")
      .filter({ hasText: String(id) });
  await row(ids.leader)
    .getByText(/^leads/)
    .waitFor();
  await row(ids.follower).getByText("follows").waitFor();
  await row(ids.follower).getByText("answers this page").waitFor();

  leader.process.signal("SIGKILL");
  await row(ids.follower)
    .getByText(/^leads/)
    .waitFor();
  expect(await row(ids.leader).textContent()).not.toContain("leads");
});
