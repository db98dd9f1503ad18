import { describe, expect, test } from "vitest";
import { fitsOf, releasesFor } from "./fit-facts.ts";

const usage = [
  { dimension: "vcpus", used: 80, capacity: 96 },
  { dimension: "memory", used: 100, capacity: 512 },
];
const share = (holder: string, vcpus: number, memory: number) => ({
  ...{ id: holder, holder, since: "2031-02-03T04:05:06Z" },
  amount: { vcpus, memory },
});

/** As the server explains it, without reservations. */
const room = (amount: Record<string, number>) => ({
  usage,
  short: usage.flatMap(({ dimension, used, capacity }) => {
    const [asked = 0, free] = [amount[dimension], capacity - used];
    return asked > free ? [{ dimension, asked, free, capacity }] : [];
  }),
});

test("fitsOf() has what is missing of each dimension that is asked for", () => {
  const facts = { used: 80, capacity: 96, asked: 24, free: 16, reserved: 0, missing: 8 };
  expect(fitsOf({ vcpus: 24, memory: 64, disks: 1 }, room({ vcpus: 24 }))).toEqual([
    { dimension: "vcpus", ...facts },
    {
      dimension: "memory",
      used: 100,
      capacity: 512,
      asked: 64,
      free: 412,
      reserved: 0,
      missing: 0,
    },
  ]);
});

test("fitsOf() has the numbers of the reason, and what is reserved for those ahead", () => {
  const short = [{ dimension: "vcpus", asked: 24, free: 4, reservedAhead: 12, capacity: 96 }];
  expect(fitsOf({ vcpus: 24 }, { usage, short })).toEqual([
    { dimension: "vcpus", used: 80, capacity: 96, asked: 24, free: 4, reserved: 12, missing: 20 },
  ]);
  // What the server does not miss is not missing, whatever is in use.
  expect(fitsOf({ vcpus: 24 }, { usage, short: [] })).toMatchObject([{ missing: 0 }]);
});

describe("releasesFor()", () => {
  const shares = [share("a", 8, 20), share("b", 48, 60), share("c", 24, 20)];
  const names = (amount: Record<string, number>) => {
    const { how, holders } = releasesFor(fitsOf(amount, room(amount)), shares);
    return [how, ...holders.map(({ holder }) => holder)].join(" ");
  };
  test.each([
    ["it fits", { vcpus: 16 }, "any"],
    ["each of them alone", { vcpus: 24 }, "any a b c"],
    ["only a large one", { vcpus: 50 }, "any b"],
    ["the two largest together", { vcpus: 80 }, "all b c"],
    ["all of them", { vcpus: 96 }, "all b c a"],
    ["not even an empty one", { vcpus: 97 }, "any"],
  ])("%s", (_, amount, want) => {
    expect(names(amount)).toBe(want);
  });

  test("leaves out a holder without whom the others are enough", () => {
    const fits = fitsOf({ vcpus: 64, memory: 572 }, room({ vcpus: 64, memory: 572 }));
    const three = [share("wide", 16, 128), share("x", 24, 96), share("y", 24, 96)];
    expect(releasesFor(fits, three).holders.map(({ holder }) => holder)).toEqual(["x", "y"]);
  });
});
