/** The page as a person has it: a real browser, a real server, the real command line beside it. */
import { describe, expect, test } from "vitest";
import { countsOf } from "../src/api/pool-counts.ts";
import type { Pool } from "../src/api/schemas.ts";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld, type World } from "./page-world.ts";

const pools = {
  account: { members: ["acc-1", "acc-2"], lockDelay: "0s", lifetime: "4h" },
  single: { members: ["only-1"], lockDelay: "0s" },
  desk: { members: ["desk-1", "desk-2", "desk-3"], lockDelay: "0s" },
  spare: { count: 3 },
  room: { place: "least-used", members: { "room-1": { capacity: { vcpus: 96, memory: 512 } } } },
};

describe.skipIf(chromiumPath === undefined)("the page", () => {
  const world = sharedWorld(pools, "--allow-host", "berth.test");

  const ask = async (pool: string, holder: string) => {
    const answer = await world().client.ask({ holder, items: [{ pool }], ttl: "10m" });
    const { id, token = "" } = answer.granted ? answer.lease : answer.request;
    return { id, token };
  };

  const unknown: Record<string, readonly [address: string, link: string, leadsTo: string]> = {
    "a resource with a similar name": ["/resources/aac-1", "acc-1", "acc-1"],
    "a resource": ["/resources/quite-another", "all pools", "All pools"],
    "a pool with a similar name": ["/pools/dsk", "desk", "desk"],
    "a pool": ["/pools/quite-another", "all pools", "All pools"],
    "a lease": ["/leases/01nobody", "who holds", "Leases"],
    "a request": ["/requests/01nobody", "who waits", "Queue"],
  };
  test.each(Object.entries(unknown))(
    "offers a way on from an unknown name: %s",
    async (_, where) => {
      const [address, link, leadsTo] = where;
      const page = await world().open(address);
      const note = page.locator(".note", { hasText: /Cannot find|No lease or request/ });
      await note.waitFor();
      expect(await note.textContent()).not.toMatch(/\/v1|GET|berth /);
      await note.getByRole("link", { name: link, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: leadsTo }).waitFor();
    },
  );

  test("shows a lease from its request to its release on the command line", async () => {
    const page = await world().open("/pools/single");
    const tile = page.locator(".tile", { hasText: "only-1" });
    await tile.locator(".tile-state", { hasText: /^free$/ }).waitFor();

    const first = world().server.berth([
      "run",
      "--pool",
      "single",
      "--holder",
      "ci/1",
      "--",
      "cat",
    ]);
    await tile.locator(".tile-state", { hasText: /^held$/ }).waitFor();
    await tile.getByText("ci/1").waitFor();

    const second = world().server.berth([
      "run",
      "--pool",
      "single",
      "--holder",
      "ci/2",
      "--",
      "cat",
    ]);
    await page.locator(".queue tbody tr", { hasText: "ci/2" }).waitFor();
    await page.getByRole("link", { name: "ci/2" }).click();
    await page.locator("h1 .chip", { hasText: "waiting" }).waitFor();
    await page.locator(".callout", { hasText: "Why it waits" }).waitFor();
    await page.locator(".rows li", { hasText: /only-1.*ci\/1/ }).waitFor();

    first.child.stdin?.end();
    await page.locator("h1 .chip", { hasText: "held" }).waitFor();
    await page.locator(".claims").getByText("only-1").waitFor();

    second.child.stdin?.end();
    await page.getByText("Its holder released it at").waitFor();
    expect(await first.ended).toBe(0);
    expect(await second.ended).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("shows the same overview as berth status, and keeps it up to date", async () => {
    const page = await world().open("/");
    const row = page.locator("table.pools tbody tr", { hasText: "account" });
    await row.getByText("0/2").waitFor();
    const lease = await ask("account", "ci/3");
    await row.getByText("1/2").waitFor();
    const told = (await world().server.json("status")) as Pool[];
    for (const pool of told) {
      const cells = page.locator("table.pools tbody tr", { hasText: pool.name }).locator("td");
      const { free, unit } = countsOf(pool);
      const want = unit === "" ? String(free) : "100 %"; // Amounts are shown in parts.
      expect(await cells.nth(2).textContent(), pool.name).toBe(want);
    }
    await world().client.releaseOnce(lease);
    await row.getByText("0/2").waitFor();
  });

  test("shows a lost connection, and reconnects after a restart", async () => {
    const page = await world().open("/pools/single");
    await page.locator(".tile-state", { hasText: /^free$/ }).waitFor();
    await world().server.stop();
    await page.getByText("Connection lost").waitFor();
    await page.getByRole("button", { name: "Try now" }).waitFor();
    expect(await page.locator(".tile").count()).toBe(1); // What was last known stays.
    const known = await page.locator(".tile").textContent();
    await page.getByText(/^[3-9]s ago\. The data below is from \d\d:\d\d:\d\d\./).waitFor();
    expect(await page.locator(".tile").textContent(), "nothing grows older").toBe(known);
    await world().server.start();
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    const lease = await ask("single", "after/the-restart");
    await page.locator(".tile", { hasText: "after/the-restart" }).waitFor();
    await world().client.releaseOnce(lease);
    await page.locator(".tile-state", { hasText: /^free$/ }).waitFor();
  });

  test("shows that the network is gone, although the feed stays open", async () => {
    const page = await world().open("/pools/single");
    await page.locator(".tile-state", { hasText: /^free$/ }).waitFor();
    await page.context().setOffline(true);
    await page.getByText("Connection lost").waitFor();
    await page.locator(".pulse.lost").waitFor();
    expect(await page.getByText("takes long to answer").count()).toBe(0);
    await page.context().setOffline(false);
    await page.locator(".pulse.live").waitFor();
    await page.getByText("Connection lost").waitFor({ state: "detached" });
  });

  test("offers no actions without a connection, and says what was not loaded before", async () => {
    const page = await world().open("/resources/desk-1");
    const drain = page.getByRole("button", { name: "Drain" });
    await drain.waitFor();
    expect(await drain.isEnabled()).toBe(true);
    await page.context().setOffline(true);
    await page.getByText("Connection lost").waitFor();
    await expect.poll(() => drain.isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Leases", exact: true }).click();
    await page.getByText("This view was not loaded before").waitFor();
    expect(await page.getByText("The data below is from").isVisible()).toBe(false);
    await page.context().setOffline(false);
    await page.locator(".pulse.live").waitFor();
    await page.getByText("This view was not loaded before").waitFor({ state: "detached" });
  });

  test("shows that no call is answered any longer", async () => {
    const page = await world().open("/pools/single");
    await page.locator(".tile-state", { hasText: /^free$/ }).waitFor();
    // The feed stays open; the next calls fail as behind a proxy that is gone.
    await page.route(/\/v1\/(?!events)/, (route) => route.abort());
    await ask("account", "ci/4").then((lease) => world().client.releaseOnce(lease));
    await page.getByText("Connection lost").waitFor();
    await page.unroute(/\/v1\/(?!events)/);
    await page.locator(".pulse.live").waitFor();
  });

  describe("for an operator", () => {
    const confirm = async (page: Awaited<ReturnType<World["open"]>>, name: RegExp) => {
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Your name").fill("ada");
      await dialog.getByLabel("Why").fill("on purpose");
      await dialog.getByRole("button", { name }).click();
      await dialog.waitFor({ state: "detached" });
    };
    const latest = async (type: string) => {
      const stop = new AbortController();
      for await (const event of world().client.events({ after: 0, signal: stop.signal })) {
        const { by } = (event["reason"] ?? {}) as { by?: string };
        if (event.type !== type || by !== "ada") continue;
        stop.abort();
        return event;
      }
      return undefined;
    };

    test("drains after a dialog that explains the effect, with author and reason in the event", async () => {
      const page = await world().open("/resources/desk-1");
      await page.getByRole("button", { name: "Drain" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("desk-1 is not lent again until somebody undrains it.").waitFor();
      await dialog.getByRole("button", { name: "Drain" }).click();
      expect((await world().client.resource("desk-1")).drained).toBe(false); // Nobody said who and why.
      await confirm(page, /^Drain$/);
      await page.locator("h1 .chip", { hasText: "drained" }).waitFor();
      expect(await latest("resource-changed")).toMatchObject({
        resource: "desk-1",
        drained: true,
        reason: { by: "ada", why: "on purpose" },
      });
      await page.getByRole("button", { name: "Undrain" }).click();
      // What is undone needs no reason.
      await dialog.getByText("desk-1 can be lent again at once.").waitFor();
      await dialog.getByText("Nobody waits for desk now.").waitFor();
      await dialog.getByRole("button", { name: "Undrain" }).click();
      await page.locator("h1 .chip", { hasText: "free" }).waitFor();
    });

    test("a dialog has nothing left to do once the lease has ended", async () => {
      const asked = await world().client.ask({
        ...{ holder: "gone/1", items: [{ pool: "desk" }], ttl: "10m" },
      });
      if (!asked.granted) throw new Error("It is granted at once");
      const page = await world().open(`/leases/${asked.lease.id}`);
      await page.getByRole("button", { name: "End lease" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(/^Its job is notified, and has .* left to release it/).waitFor();
      await dialog.getByLabel("Your name").fill("ada");
      await dialog.getByLabel("Why").fill("hangs");
      await world().client.releaseOnce({ ...asked.lease, token: asked.lease.token ?? "" });
      await dialog.getByRole("button", { name: "End lease" }).click();
      await dialog.getByText(/^The lease ended .* ago: its holder released it\.$/).waitFor();
      expect(await dialog.getByRole("button").allTextContents()).toEqual(["Close"]);
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.waitFor({ state: "detached" });
    });

    test("a dialog says that no answer came, and can be used again after a restart", async () => {
      const page = await world().open("/resources/desk-1");
      await page.getByRole("button", { name: "Drain" }).click();
      const dialog = page.getByRole("dialog");
      const button = dialog.getByRole("button", { name: "Drain" });
      await dialog.getByLabel("Your name").fill("ada");
      await dialog.getByLabel("Why").fill("on purpose");
      await page.route("**/v1/resources/desk-1", async (route) => {
        if (route.request().method() !== "PATCH") return route.continue();
        await world().server.stop("SIGKILL");
        await route.abort("connectionreset");
      });
      await button.click();
      await dialog.getByText("No answer came").waitFor();
      await dialog.getByText("It may have been done. Look at the page").waitFor();
      await expect.poll(() => button.isDisabled()).toBe(true);
      await page.unrouteAll();
      await world().server.start();
      await page.locator(".pulse.live").waitFor();
      expect(await dialog.getByText("No answer came").isVisible(), "with a connection too").toBe(
        true,
      );
      await button.click();
      await dialog.waitFor({ state: "detached" });
      await world().client.changeResource("desk-1", { drained: false, by: "ada", reason: "back" });
    });

    test("frees a quarantined resource, and shows the output of the cleaner", async () => {
      const note = "cleaner ended with 1\nthe key was refused";
      await world().client.changeResource("desk-2", { state: "quarantined", note });
      const search = await world().open("/search?q=KEY+was");
      await search.locator(".hits li", { hasText: "desk-2" }).getByText("the key was").waitFor();
      await search.close();
      const page = await world().open("/out");
      // The last line of its output is the cause.
      await page.locator("summary", { hasText: "the key was refused" }).click();
      await page.locator("pre", { hasText: "cleaner ended with 1" }).waitFor();
      await page.getByRole("button", { name: "Return to service" }).click();
      await confirm(page, /^Return to service$/);
      await page.getByText("Everything is in service").waitFor();
      expect(await world().client.resource("desk-2")).toMatchObject({ state: "free", note: "" });
    });

    test("undrains all resources with one note, and lists the oldest trouble first", async () => {
      const { client } = world();
      await client.changeResource("acc-1", { drained: true, by: "bea", reason: "alone" });
      for (const name of ["desk-1", "desk-2", "desk-3"]) {
        await client.changeResource(name, { drained: true, by: "ada", reason: "new disk" });
      }
      const page = await world().open("/out");
      const groups = page.locator("tr.group");
      await groups.nth(1).getByText("By ada: new disk").waitFor();
      await groups.nth(0).getByText("With their own notes").waitFor();
      await page.getByRole("button", { name: "Undrain all 3" }).click();
      await confirm(page, /Undrain all 3/);
      await page.getByText("3 resources can be lent again").waitFor();
      expect((await client.resource("desk-2")).drained).toBe(false);
      await client.changeResource("acc-1", { drained: false, by: "bea", reason: "back" });
    });

    test("ends a lease, and removes a request from the queue", async () => {
      const { id } = await ask("single", "stuck/1");
      await ask("single", "waits/2");
      const page = await world().open("/queue");
      await page.getByRole("button", { name: "Remove from queue" }).click();
      await confirm(page, /Remove from queue/);
      await page.getByText("The queue is empty").waitFor();
      expect(await latest("request-left")).toMatchObject({ reason: { why: "on purpose" } });
      await page.goto(`${world().server.url}/leases/${id}`);
      await page.getByRole("button", { name: "End lease" }).click();
      await confirm(page, /End lease/);
      await page.getByText("An operator ended it at").waitFor();
      await page.locator("h1 .chip", { hasText: "ending" }).waitFor();
      expect(await latest("lease-revoked")).toMatchObject({ id });
      await page.getByRole("button", { name: "Lend again now" }).click();
      await confirm(page, /It is gone: lend again/);
      await page.locator("h1 .chip", { hasText: "ending" }).waitFor({ state: "detached" });
      expect(await latest("lease-ended")).toMatchObject({ id, why: "revoked" });
    });

    test("shows the server's refusal in a dialog that stays open while the list changes", async () => {
      const holds = await ask("single", "holds/1");
      const waits = await ask("single", "waits/1");
      const page = await world().open("/queue");
      await page.getByRole("button", { name: "Remove from queue" }).click();
      // The lease is granted while the dialog is open.
      const given = await world().server.done(["release", holds.id, "--token", holds.token]);
      expect(given.code, given.stderr).toBe(0);
      await page.getByText("The queue is empty").waitFor();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Your name").fill("ada");
      await dialog.getByLabel("Why").fill("x");
      await dialog.getByRole("button", { name: "Remove from queue" }).click();
      await dialog
        .getByRole("alert")
        .getByText("It has been granted. To take its resources back, end the lease.")
        .waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.waitForFunction("document.activeElement.id === 'main'");
      await world().client.revoke(waits.id, { by: "test", reason: "", gone: true });
    });

    test("closes a dialog when the user opens another view", async () => {
      const page = await world().open("/out");
      await page.getByRole("link", { name: "Pools" }).first().click();
      await page.getByRole("link", { name: "desk", exact: true }).click();
      await page.getByRole("link", { name: "desk-1", exact: true }).click();
      await page.getByRole("button", { name: "Drain" }).click();
      await page.getByRole("dialog").waitFor();
      await page.goBack();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("heading", { level: 1, name: "desk" }).waitFor();
    });
  });

  test("shows no button that the server would refuse, and gives the reason", async () => {
    const { port } = new URL(world().server.url);
    const page = await world().browser.newPage();
    await page.goto(`http://berth.test:${port}/resources/desk-1`);
    await page.getByText("No actions: Cannot act on behalf of others").waitFor();
    expect(await page.getByRole("button", { name: "Drain" }).count()).toBe(0);
  });

  describe("has an address for every view", () => {
    test.each([
      ["/", "All pools"],
      ["/pools/account", "account"],
      ["/resources/acc-1", "acc-1"],
      ["/queue", "Queue"],
      ["/leases", "Leases"],
      ["/out", "Out of service"],
      ["/clusters", "Clusters"],
      ["/events", "Events"],
      ["/audit", "Audit"],
      ["/search?q=acc", "Search"],
      ["/nowhere/at/all", "No such page"],
    ])("%s", async (path, heading) => {
      const page = await world().open(path);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor({ state: "attached" });
      expect(world().complaints).toEqual([]);
    });

    test("with its filters, and the back button undoes them", async () => {
      const page = await world().open("/?q=acc&show=full");
      await page.getByText("No pool matches").waitFor();
      await page.getByRole("button", { name: "All", exact: true }).click();
      await page.locator("tbody tr").waitFor();
      expect(new URL(page.url()).search).toBe("?q=acc");
      await page.getByRole("link", { name: "account" }).click();
      await page.getByRole("heading", { level: 1, name: "account" }).waitFor();
      await page.getByRole("button", { name: "free" }).click();
      expect(new URL(page.url()).search).toBe("?state=free");
      await page.goBack();
      expect(new URL(page.url()).search).toBe("");
      await page.goBack();
      expect(new URL(page.url()).search).toBe("?q=acc");
    });

    test("and offers help for an unknown pool", async () => {
      const page = await world().open("/pools/acount");
      await page.getByRole("alert").getByText("account").first().waitFor();
    });
  });

  describe("shows the past:", () => {
    test("a past lease is in the history, on the page of its resource and on its own page", async () => {
      const lease = await ask("spare", "yesterday/1");
      await world().client.releaseOnce(lease);
      const page = await world().open("/history?window=1h");
      await page.locator(".past tr", { hasText: "yesterday/1" }).waitFor();
      await page.locator(".chart canvas").nth(2).waitFor();
      await page.getByRole("link", { name: "yesterday/1" }).first().click();
      await page.getByText("Its holder released it at").waitFor();
      await page.locator(".claims").getByRole("link", { name: "spare-1" }).click();
      await page.getByRole("heading", { level: 1, name: "spare-1" }).waitFor();
      await page.locator(".lane-block").first().waitFor({ state: "attached" });
      await page.getByRole("button", { name: "1 hour" }).click();
      expect(new URL(page.url()).search).toBe("?span=1h");
      await page.locator(".past tr", { hasText: "yesterday/1" }).waitFor();
      expect(world().complaints).toEqual([]);
    });

    test("the past is replayed with other pool sizes", async () => {
      await world().client.releaseOnce(await ask("spare", "yesterday/2"));
      const page = await world().open("/pools/spare");
      await page.getByLabel("Compare").fill("7, 2");
      await page.getByRole("button", { name: "Replay the demand" }).click();
      const rows = page.locator(".what-if .compare tbody th");
      await rows.filter({ hasText: "7" }).waitFor();
      expect(await rows.allTextContents()).toEqual([...["recorded ", "2 ", "3 today", "7 "]]);
      await page.getByText("Limits of this simulation").click();
      expect(await page.locator(".what-if li").count()).toBeGreaterThan(0);
    });
  });

  test("shows a shared resource as bars, with the amount of each holder", async () => {
    const page = await world().open("/pools/room");
    await page.locator(".capacity", { hasText: "0 of 96" }).waitFor();
    const items = [{ pool: "room", amount: { vcpus: 24, memory: 64 } }];
    await world().client.ask({ holder: "big/1", items, ttl: "10m" });
    await page.locator(".capacity", { hasText: "24 of 96" }).waitFor();
    const host = page.locator(".host", { hasText: "room-1" });
    await host.getByText("72 free").waitFor();
    await host
      .locator(".host-holders", { hasText: "big/1" })
      .getByText("24 vcpus, 64 memory")
      .waitFor();
    await host.getByRole("link", { name: "room-1" }).click();
    await page.getByLabel("Use by holder").getByText("big/1").waitFor();
    await page.locator(".capacity .look-held[title='big/1: 64']").waitFor({ state: "attached" });
  });

  test("can be used with the keyboard alone", async () => {
    const page = await world().open("/");
    await page.locator("tbody tr").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "desk" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("acc-2");
    await page.getByRole("option", { name: /acc-2/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "acc-2" }).waitFor();
  });

  test("shows events as sentences, and pauses for a reader", async () => {
    const page = await world().open("/events");
    // Other grants of these seconds would be one row with this one.
    await page.getByRole("button", { name: "One by one" }).click();
    const lease = await ask("spare", "reader/1");
    await page.locator(".events li", { hasText: /reader\/1 gets spare-\d/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    // Somebody who pauses looks closer: a filter does not let the list run again.
    await page.locator(".choice").getByRole("button", { name: "Leases" }).click();
    await page.locator(".events li", { hasText: /reader\/1 gets spare-\d/ }).waitFor();
    await world().client.releaseOnce(lease);
    await page.getByRole("button", { name: /Resume \(\d+ new\)/ }).click();
    await page.locator(".events li", { hasText: /reader\/1 releases spare-\d/ }).waitFor();
  });
});
