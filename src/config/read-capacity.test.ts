import { describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { parseConfig } from "./parse.ts";

const file = `
pools:
  vsphere:
    place: least-used
    strategies: [pack]
    patience: 10m
    parts:
      networks:
        apart: vlanId
        members:
          ci-vlan-1302: { vlanId: "1302", cidr: 25, ipAddresses: [10.0.0.1, 10.0.0.2] }
    members:
      pool1:
        capacity: { vcpus: 120, memory: 1600 }
        overcommit: { vcpus: 2.50 }
        labels: { vcenter: vcenter1 }
        taints: [{ key: dedicated, value: gpu, effect: NoSchedule }]
        parts: { networks: [ci-vlan-1302] }
      pool2: { capacity: { vcpus: 60 }, excluded: true }
`;

test("a pool that is lent by amount is read as it is written", () => {
  const parsed = parseConfig(file, "berth.yaml");
  expect(parsed).toMatchObject({ ok: true, warnings: [] });
  const [pool] = parsed.ok ? parsed.pools : [];
  expect(pool?.policy.placement).toEqual({
    strategy: "least-used",
    choices: ["pack"],
    parts: {
      networks: {
        apart: "vlanId",
        members: {
          "ci-vlan-1302": { vlanId: "1302", cidr: 25, ipAddresses: ["10.0.0.1", "10.0.0.2"] },
        },
      },
    },
  });
  expect(pool?.members).toEqual([
    {
      name: "pool1",
      labels: { vcenter: "vcenter1" },
      room: {
        index: 0,
        capacity: { vcpus: 120, memory: 1600 },
        overcommit: { vcpus: "2.50" },
        taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }],
        parts: { networks: ["ci-vlan-1302"] },
      },
    },
    { name: "pool2", labels: {}, room: { index: 1, capacity: { vcpus: 60 }, excluded: true } },
  ]);
});

describe("refused, with what to do:", () => {
  const one = (pool: string, member: string) =>
    `pools:\n  p:\n    ${pool}\n    members:\n      m: ${member}\n`;
  const rows: [string, string, RegExp][] = [
    [
      "a strategy that there is not",
      one("place: best", "{ capacity: {} }"),
      /"best" is not a strategy/,
    ],
    ["no capacity", one("place: pack", "{}"), /m: it has no capacity/],
    [
      "a capacity without place",
      one("ttl: 5m", "{ capacity: { a: 1 } }"),
      /the pool is lent whole/,
    ],
    ["a fraction", one("place: pack", "{ capacity: { a: 1.5 } }"), /1.5 is not a whole number/],
    [
      "less than nothing",
      one("place: pack", "{ capacity: { a: -1 } }"),
      /-1 is not a whole number/,
    ],
    [
      "an absurd ratio",
      one("place: pack", "{ capacity: { a: 1 }, overcommit: { a: 1e3 } }"),
      /1e3 is not a ratio/,
    ],
    [
      "a misspelt effect",
      one("place: pack", "{ capacity: {}, taints: [{ key: a, effect: NoExec }] }"),
      /not a taint/,
    ],
    [
      "taints of what is lent whole",
      one("ttl: 5m", "{ taints: [] }"),
      /only for a member with a capacity/,
    ],
    [
      "a state",
      one("place: pack\n    onRelease: dirty", "{ capacity: {} }"),
      /has no cooldown and no state/,
    ],
    ["a count", "pools:\n  p: { place: pack, count: 3 }\n", /have a capacity each/],
    ["a misspelt key", one("place: pack", "{ capasity: {} }"), /write capacity/],
    [
      "a dimension that is a kind of parts",
      one("place: pack", "{ capacity: { n: 1 }, parts: { n: [a] } }"),
      /both a dimension and a kind/,
    ],
  ];
  test.each(rows)("%s", (_, text, want) => {
    const parsed = parseConfig(text, "berth.yaml");
    const problems = parsed.ok ? [] : parsed.problems.map(formatProblem);
    expect(problems.join("\n")).toMatch(want);
  });
});

test("parts that nobody describes are used, with a warning", () => {
  const parsed = parseConfig(file.replace("networks: [ci", "networks: [other, ci"), "berth.yaml");
  const warnings = parsed.ok ? parsed.warnings.map(formatWarning) : [];
  expect(warnings.join("\n")).toMatch(/other not under the pool's parts/);
});
