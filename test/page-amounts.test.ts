/** Amounts, labels and names of requests on the page. */
import { describe, expect, test } from "vitest";
import { chromiumPath } from "./chromium.ts";
import { sharedWorld } from "./page-world.ts";

const pools = {
  hv: { place: "least-used", members: { "hv-1": { capacity: { vcpus: 60, memory: 256 } } } },
  lab: {
    ...{ place: "least-used", patience: "1s" },
    members: { "lab-a": { capacity: { vcpus: 60 } }, "lab-b": { capacity: { vcpus: 60 } } },
  },
  aws: { members: { "aws-1": { labels: { region: "eu-west" } } } },
};

describe.skipIf(chromiumPath === undefined)("the page", () => {
  const world = sharedWorld(pools);

  test("shows what is asked for, held and missing, and offers only what is possible", async () => {
    const { client } = world();
    const hv = (vcpus: number) => ({ pool: "hv", amount: { vcpus, memory: 64 } });
    const held = await client.ask({ holder: "vm/1", items: [hv(26)], ttl: "10m" });
    const waits = await client.ask({ holder: "vm/2", items: [hv(48)], ttl: "10m" });
    const named = { pool: "aws", selector: { region: "eu-west" } };
    await client.ask({ holder: "east/1", items: [named], ttl: "10m" });
    await client.ask({ holder: "east/2", items: [named], ttl: "10m" });
    const idOf = (answer: typeof held) => (answer.granted ? answer.lease.id : answer.request.id);

    const page = await world().open("/queue");
    await page.locator("tr", { hasText: "vm/2" }).getByText("48 vcpus, 64 memory").waitFor();
    await page.locator("tr", { hasText: "east/2" }).getByText("region=eu-west").first().waitFor();
    await page.goto(new URL("/leases", page.url()).href);
    await page.locator("tr", { hasText: "vm/1" }).getByText("26 vcpus, 64 memory").waitFor();
    await page.goto(new URL(`/leases/${idOf(held)}`, page.url()).href);
    await page.locator(".claims td", { hasText: "26 vcpus, 64 memory" }).waitFor();
    await page.goto(new URL(`/requests/${idOf(waits)}`, page.url()).href);
    await page.getByText("1 of hv (48 vcpus, 64 memory)").waitFor();
    const rooms = page.getByLabel("What is free on each resource");
    await rooms.getByText("34 free, 48 needed").waitFor();
    await rooms.getByText("14 vcpus must come free").waitFor();
    await rooms.getByRole("link", { name: "vm/1" }).waitFor();
    // The same picture is on the page of the pool, below its free amounts.
    await page.goto(new URL("/pools/hv", page.url()).href);
    await page.getByLabel("hv in numbers").getByText("Free vcpus").waitFor();
    const picture = page.getByRole("region", { name: "Why vm/2 does not fit" });
    await picture.getByText("14 vcpus must come free").waitFor();

    await page.goto(new URL("/resources/hv-1", page.url()).href);
    await page.getByRole("button", { name: "Drain" }).waitFor();
    expect(await page.getByRole("button", { name: "Return to service" }).count()).toBe(0);
    expect(world().complaints).toEqual([]);
  });

  test("names the same host in the reason, the picture and the event", async () => {
    const { client } = world();
    const ask = (holder: string, vcpus: number, resource?: string) =>
      client.ask({
        ...{ holder, ttl: "10m" },
        items: [{ pool: "lab", amount: { vcpus }, ...(resource && { resource }) }],
      });
    const small = await ask("vm/3", 25, "lab-a");
    await ask("vm/4", 25, "lab-a");
    await ask("vm/5", 40, "lab-b");
    const large = await ask("vm/6", 50);
    if (!small.granted || large.granted) throw new Error("Only the last of them waits");

    const page = await world().open(`/requests/${large.request.id}`);
    const reason = page.locator(".callout", { hasText: "Reserved on lab-b" });
    await reason.waitFor();
    await page.getByText(/has waited \d+s: capacity on lab-b is reserved for it/).waitFor();
    // Now less is missing on the other host.
    await client.release({ ...small.lease, token: small.lease.token ?? "" });
    const hosts = page.getByLabel("What is free on each resource").locator("li");
    await hosts.filter({ hasText: "lab-a" }).getByText("35 free, 50 needed").waitFor();
    const first = await hosts.first().textContent();
    expect([first?.includes("lab-b"), first?.includes("reserved for it")]).toEqual([true, true]);
    await reason.waitFor();
    // The page of the host says so too.
    await page.goto(new URL("/resources/lab-b", page.url()).href);
    await page.getByLabel("Reserved for requests").getByRole("link", { name: "vm/6" }).waitFor();
    await page.locator(".capacity", { hasText: "40 of 60, 10 free but reserved" }).waitFor();
    expect(world().complaints).toEqual([]);
  });
});
