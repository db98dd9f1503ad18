import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { pageOf } from "./paging.ts";
import { askBody, type TestSite, testSite } from "./test-site.suite.ts";

interface Page {
  readonly items: readonly { readonly id?: string; readonly name?: string }[];
  readonly next: string | null;
}

/** All pages of a listing, one after the other; `between` happens before each next page. */
async function pages(
  site: TestSite,
  path: string,
  limit: number,
  between?: () => Promise<unknown>,
) {
  const keys: string[][] = [];
  for (let after = ""; ; ) {
    const query = `limit=${limit}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
    const { body } = await site.call(`GET ${path}?${query}`);
    const { items, next } = body as Page;
    keys.push(items.map(({ id, name }) => id ?? name ?? ""));
    if (next === null) return keys;
    after = next;
    await between?.();
  }
}

describe("a listing in pages", () => {
  test.each([
    [1, [1, 1, 1, 1, 1, 1, 1]],
    [3, [3, 3, 1]],
    [7, [7]],
    [1_000, [7]],
  ])("of %d has everything once", async (limit, sizes) => {
    await using site = await testSite([pool("aws", 7)]);
    const found = await pages(site, "/v1/resources", limit);
    expect(found.map(({ length }) => length)).toEqual(sizes);
    expect(new Set(found.flat()).size).toBe(7);
  });

  test.each(["/v1/leases", "/v1/requests", "/v1/pools"])("works for %s", async (path) => {
    const pools = Array.from({ length: 5 }, (_, index) => pool(`p${index}`, 5));
    await using site = await testSite(pools);
    for (let number = 0; number < 10; number++) {
      await site.call("POST /v1/leases", { body: askBody("p0") });
    }
    const found = await pages(site, path, 2);
    expect(found.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(new Set(found.flat()).size).toBe(5);
  });

  test("neither repeats nor skips what stays, while others come and go", async () => {
    await using site = await testSite([pool("aws", 9)]);
    const staying = ["aws-2", "aws-4", "aws-6", "aws-8"];
    let round = 0;
    const edit = () => {
      round += 1;
      const extra = round % 2 === 0 ? ["aws-1", "aws-5"] : ["aws-3", "aws-7", "aws-9"];
      return site.broker.submit({
        type: "configure",
        pools: [pool("aws", [...staying, ...extra])],
      });
    };
    const found = (await pages(site, "/v1/resources", 2, edit)).flat();
    expect(new Set(found).size).toBe(found.length);
    expect(found).toEqual(expect.arrayContaining(staying));
  });

  test("of an empty listing is one empty page", async () => {
    await using site = await testSite([pool("aws", 1)]);
    expect((await site.call("GET /v1/leases")).body).toEqual({ items: [], next: null });
  });

  test("has a hundred entries unless told", async () => {
    await using site = await testSite([pool("aws", 150)]);
    expect(((await site.call("GET /v1/resources")).body as Page).items).toHaveLength(100);
  });

  test.each(["0", "1001", "-1", "x", "1.5", "", "99999999"])("refuses limit=%s", async (limit) => {
    await using site = await testSite([pool("aws", 1)]);
    expect(await site.call(`GET /v1/resources?limit=${limit}`)).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  });

  test("takes any text as a cursor", async () => {
    await using site = await testSite([pool("aws", 3)]);
    const anyText = fc.string({ maxLength: 50, unit: "binary" });
    await fc.assert(
      fc.asyncProperty(anyText, async (after) => {
        const query = new URLSearchParams({ after });
        const { status, body } = await site.call(`GET /v1/resources?${query}`);
        expect(status).toBe(200);
        expect((body as Page).items.every(({ name = "" }) => name > after)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe("pageOf()", () => {
  const identity = (key: string) => key;

  test("returns the first keys behind the cursor, whatever their order", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
        (keys, limit, after) => {
          const query = { limit: String(limit), ...(after === undefined ? {} : { after }) };
          const behind = keys.filter((key) => after === undefined || key > after).sort(byText);
          const items = behind.slice(0, limit);
          const next = behind.length > limit ? items.at(-1) : null;
          expect(pageOf(keys, query, identity, identity)).toEqual({ items, next });
        },
      ),
    );
  });

  test.each(["ascending", "descending"])("does not sort a whole list, %s", (order) => {
    const keys = Array.from({ length: 10_000 }, (_, index) => String(100_000 + index));
    if (order === "descending") keys.reverse();
    let reads = 0;
    const keyOf = (key: string) => {
      reads += 1;
      return key;
    };
    expect(pageOf(keys, { limit: "1" }, keyOf, identity)).toEqual({
      items: ["100000"],
      next: "100000",
    });
    expect(reads).toBeLessThan(10 * keys.length);
  });
});

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
