import { describe, expect, test } from "vitest";
import type { ReplayedPart } from "../../../src/api/history-schemas.ts";
import { conclusionOf } from "./what-if-conclusion.ts";

/** A wait that is null ends after the record; of 200 claims so many have started. */
const part = (p90: number | null, started = 200, p99 = p90) =>
  ({
    waitSeconds: null,
    starts: { claims: 200, started, withinSeconds: { p50: 0, p90, p99 } },
  }) as unknown as ReplayedPart;
/** In the order of their numbers. Today's has a star. */
const rows = (waits: Readonly<Record<string, number | readonly [number | null, number]>>) =>
  Object.entries(waits)
    .map(([name, wait]) => ({
      ...{ label: name.replace("*", ""), isToday: name.endsWith("*") },
      part: typeof wait === "number" ? part(wait) : part(...wait),
    }))
    .toSorted((a, b) => Number.parseInt(a.label, 10) - Number.parseInt(b.label, 10));
const sizes = (...[a, b, c, d, e]: readonly [number, number, number, number, number]) =>
  rows({ "3": a, "5": b, "6*": c, "7": d, "9": e });
const pace = { words: "the pace (one every 4s)", ask: "pace" } as const;

describe("conclusionOf()", () => {
  test.each([
    [
      ...["today's is enough", sizes(300, 52, 20, 20, 21)],
      ["Today's 6 is enough: 9 in 10 start within 20s, and more would not shorten that."],
    ],
    [
      ...["nobody waits today", sizes(300, 52, 0, 0, 0)],
      ["Today's 6 is enough: 9 in 10 start at once."],
    ],
    [
      ...["less than today is", sizes(300, 22, 20, 20, 21)],
      ["5 would be enough (1 fewer than today): 9 in 10 start within 22s, today within 20s."],
    ],
    [
      ...["more than today is", sizes(300, 52, 40, 20, 20)],
      ["7 would be enough (1 more than today): 9 in 10 start within 20s, today within 40s."],
    ],
    [
      ...["only the largest is", sizes(300, 52, 40, 30, 10)],
      [
        "More helps, up to 9, the largest size tried (3 more than today): 9 in 10 start within 10s, today within 40s.",
        "With 7 (1 more): within 30s.",
      ],
    ],
    [
      ...["most comes before it", sizes(300, 800, 600, 48, 10)],
      [
        "7 already gives most of it (1 more than today): 9 in 10 start within 48s, today within 10m.",
        "With 9, the largest size tried: within 10s; all smaller ones are slower.",
      ],
    ],
    [
      ...["nothing changes", sizes(20, 20, 20, 20, 20)],
      ["None of these values changes the wait of 9 in 10: they start within 20s."],
    ],
    [
      ...["waits rise and fall", sizes(30, 10, 30, 40, 50)],
      ["5 is the best of these (1 fewer than today): 9 in 10 start within 10s, today within 30s."],
    ],
    [
      ...["today's is the best", sizes(30, 50, 10, 40, 50)],
      ["None of the other values is better than today's 6."],
    ],
  ] as const)("if %s", (_, compared, [lead, ...rest]) => {
    expect(conclusionOf(compared, { what: "size" })).toMatchObject({ lead, rest });
  });

  test("has the cheapest change that already helps", () => {
    const found = conclusionOf(rows({ "30*": 55, "33": 16, "38": 0, "45": 0 }));
    expect(found).toMatchObject({
      lead: "38 would be enough (8 more than today): 9 in 10 start at once, today within 55s.",
      rest: ["With 33 (3 more): within 16s."],
    });
  });

  test("says at once that more gains nothing, before what less would give", () => {
    const compared = rows({ "4*": 135, "5": 38, "6": 6.2, "8": 0 });
    expect(conclusionOf(compared, { errorSeconds: 27, what: "number" })).toMatchObject({
      lead: "6 would be enough (2 more than today): 9 in 10 start within 6.2s, today within 2m15s.",
      rest: [
        "More than 6 gains less than the replay is off (27s).",
        "With 5 (1 more): within 38s.",
      ],
    });
  });

  test("calls less of a time between two starts a shorter one", () => {
    const compared = rows({ "2s": 0, "3s": 20, "4s*": 120 });
    expect(conclusionOf(compared, { errorSeconds: 28, what: "pace" })).toMatchObject({
      lead: "3s would be enough: 9 in 10 start within 20s, today within 2m.",
      rest: ["A shorter time than 3s gains less than the replay is off (28s)."],
    });
  });

  test("finds no difference that is smaller than the error of the replay", () => {
    const compared = rows({ "5": 24, "6*": 20, "7": 16 });
    expect(conclusionOf(compared, { errorSeconds: 8 })?.lead).toBe(
      "None of these values changes the wait of 9 in 10 by more than the replay is off, 8s: they start within 20s.",
    );
  });

  test("does not call enough what only lets 9 in 10 start", () => {
    const compared = rows({ "10*": [null, 81], "13": 335, "15": 330, "20": 330 });
    expect(conclusionOf(compared)?.lead).toBe(
      "It takes 13 (3 more than today) for 9 in 10 to start: within 5m35s, today fewer than 9 in 10 start at all (40 %).",
    );
  });

  test("says how many start where too few do, and what it takes", () => {
    const few = { "3": [null, 114], "4*": [null, 142], "5": [null, 172] } as const;
    expect(conclusionOf(rows({ ...few, "6": 86, "8": 0 }))).toMatchObject({
      lead: "It takes 6 (2 more than today) for 9 in 10 to start: within 1m26s, today fewer than 9 in 10 start at all (71 %).",
      rest: ["With 8, the largest value tried: at once; all smaller ones are slower."],
    });
    expect(conclusionOf(rows(few))).toMatchObject({
      lead: "With none of these values would 9 in 10 start before the end of the record.",
      rest: ["Started: 57 % with 3, 71 % with 4, 86 % with 5."],
    });
  });

  test("says where 99 in 100 still wait less, if today's is enough for 9 in 10", () => {
    const compared = rows({ "4": [60, 200], "5*": [0, 200], "8": [0, 200] }).map((row, index) => ({
      ...{ ...row, part: part(index === 0 ? 60 : 0, 200, index === 2 ? 0 : 45) },
    }));
    expect(conclusionOf(compared)).toMatchObject({
      lead: "Today's 5 is enough: 9 in 10 start at once.",
      rest: ["99 in 100 start within 45s with 5, at once with 8."],
    });
  });

  test.each([
    ["fewer would do", { "6": 300, "9": 31, "12*": 31, "15": 31 }, "31s with 9 as with 12"],
    ["fewer would not", { "9": 300, "12*": 31, "15": 31 }, "more than today's 12 would not"],
    ["no value changes it", { "9": 31, "12*": 31, "15": 31 }, "with each of these values"],
  ])("names the pace, if it makes requests wait: %s", (_, waits, text) => {
    const found = conclusionOf(rows(waits), { what: "size", cause: pace });
    expect(found?.lead).toContain("Not the size but the pace (one every 4s) makes requests wait:");
    expect(found?.lead).toContain(text);
    expect(found).toMatchObject({ ask: "pace", rest: [] });
  });

  test("names what makes them wait beyond a value, and nothing if they do not wait", () => {
    const cause = { words: "the size of the pools below it (east 8, west 8)", from: 16 };
    const [slow, fast] = [
      rows({ "11*": 90, "14": 52, "22": 52 }),
      rows({ "11*": 90, "14": 0, "22": 0 }),
    ];
    expect(conclusionOf(slow, { cause })?.rest).toEqual([
      "From 16 on, the size of the pools below it (east 8, west 8) makes requests wait.",
    ]);
    expect(conclusionOf(fast, { cause })?.rest).toEqual([]);
    expect(
      conclusionOf(rows({ "9": 90, "12*": 0, "15": 0 }), { cause: pace })?.ask,
    ).toBeUndefined();
  });

  test.each([
    ["no value is today's", rows({ "5": 52, "7": 10 })],
    ["there is nothing beside it", rows({ "6*": 20 })],
    [
      "nobody asked",
      rows({ "5": 1, "6*": 1 }).map((row) => ({
        ...{ ...row, part: { waitSeconds: null } as unknown as ReplayedPart },
      })),
    ],
  ])("is undefined if %s", (_, compared) => {
    expect(conclusionOf(compared)).toBeUndefined();
  });
});
