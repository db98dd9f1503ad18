/** The rows of Boskos's own tests for its metrics, and what its operators missed in them. */
import { describe, expect, test } from "vitest";
import { BoskosSite } from "./boskos-site.suite.ts";

const known = ["busy", "cleaning", "dirty", "free", "leased", "toBeDeleted", "tombstone"];

/** The lines of `boskos_resources` as `type/state count`, in the order of the reply. */
async function resources(site: BoskosSite): Promise<string[]> {
  const { text } = await site.call("GET /metrics");
  const lines = text.matchAll(/^boskos_resources\{type="(.*?)",state="(.*?)"\} (\d+)$/gm);
  return Array.from(lines, ([, type, state, count]) => `${type}/${state} ${count}`);
}

describe("R23 the metrics of all types", () => {
  test("are sorted by type", async () => {
    const seed = ["a:zebra/free/", "b:apple/busy/merlin", "c:mango/free/", "d:apple/free/"];
    await using site = await BoskosSite.start({ seed });
    const types = (await resources(site)).map((line) => line.split("/")[0]);
    expect([...new Set(types)]).toEqual(["apple", "mango", "zebra"]);
  });

  test("are empty without resources", async () => {
    await using site = await BoskosSite.start();
    expect(await resources(site)).toEqual([]);
  });
});

describe("G1 the states of a type", () => {
  test("are all known ones, with 0 for those that it has not, and no other", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/free/", "b:t/free/", "c:t/busy/o"] });
    const counts: Readonly<Record<string, number>> = { free: 2, busy: 1 };
    const want = known.map((state) => `t/${state} ${counts[state] ?? 0}`);
    expect((await resources(site)).sort()).toEqual(want.sort());
  });

  test("are summed as other, if they are not known", async () => {
    await using site = await BoskosSite.start({ seed: ["a:t/s/", "b:t/manual/", "c:t/free/"] });
    const lines = await resources(site);
    expect(lines).toContain("t/other 2");
    expect(lines).toHaveLength(known.length + 1);
  });
});

describe("F22 a state that is a typo", () => {
  const release = "POST /release?name=a&owner=o&dest=used";

  test("is refused, if the type lists its states, and changes nothing", async () => {
    const policies = { t: { states: ["free", "dirty"] } };
    await using site = await BoskosSite.start({ seed: ["a:t/busy/o", "b:t/free/"], policies });
    const why = 'state "used" is not allowed for t, only free, dirty';
    expect(await site.call(release)).toMatchObject({
      status: 400,
      text: `Done failed: a - used (from o): ${why}\n`,
    });
    expect(await site.call("POST /acquire?type=t&state=free&dest=used&owner=o")).toMatchObject({
      status: 400,
      text: `Acquire failed: ${why}\n`,
    });
    expect(await site.stored()).toEqual(["a:t/busy/o", "b:t/free/"]);
  });

  test("is stuck, if nobody takes it for an hour", async () => {
    const seed = ["a:t/busy/o", "b:t/busy/o", "c:t/free/", "d:t/quarantined/"];
    await using site = await BoskosSite.start({ seed });
    const stuck = async () => {
      const { text } = await site.call("GET /metrics");
      return /^berth_resources_stuck\{pool="t"\} (\d+)$/m.exec(text)?.[1];
    };
    await site.call(release);
    await site.clock.advance(3_599_999);
    await site.call(release.replace("name=a", "name=b"));
    expect(await stuck()).toBe("0");
    await site.clock.advance(1);
    expect(await stuck()).toBe("1");
    await site.clock.advance(3_600_000);
    expect(await stuck()).toBe("2");
    await site.call("POST /acquire?type=t&state=used&dest=cleaning&owner=j");
    expect(await stuck()).toBe("1");
  });
});
