import { describe, expect, test } from "vitest";
import { defaultSpacePolicy } from "../core/model/space.ts";
import { formatProblem, formatWarning } from "./document.ts";
import { parseConfig } from "./parse.ts";

const pools = `
pools:
  aws-account: { count: 3, cost: 10 }
  vsphere: { place: pack, members: { hv-1: { capacity: { vcpus: 96 } } } }
`;
const auth = (space: string) => `auth: { anonymous: { space: ${space}, role: holder } }\n`;
const read = (text: string) => parseConfig(`${pools}${text}`, "f");

describe("spaces:", () => {
  test("have weights, quotas and bounds", () => {
    const quota = "{ aws-account: 2, vsphere: { vcpus: 96 }, cost: 50 }";
    const bounds = "pools: [aws-*, vsphere], waiting: 100, priority: 10, lifetime: 8h";
    expect(
      read(`${auth("web")}spaces: { payments: { weight: 2, quota: ${quota}, ${bounds} }, web: }`),
    ).toMatchObject({
      ok: true,
      warnings: [],
      spaces: {
        others: null,
        spaces: [
          {
            name: "payments",
            policy: {
              weight: 2,
              pools: ["aws-*", "vsphere"],
              quotas: [
                { pool: "aws-account", max: 2 },
                { pool: "vsphere", dimension: "vcpus", max: 96 },
              ],
              costMax: 50,
              waitingMax: 100,
              priorityMax: 10,
              lifetimeMs: 8 * 3_600_000,
            },
          },
          { name: "web", policy: defaultSpacePolicy },
        ],
      },
    });
  });

  test("may be any without them, and with spaceDefaults", () => {
    expect(read("")).toMatchObject({ spaces: { spaces: [], others: defaultSpacePolicy } });
    expect(read("spaceDefaults: { quota: { aws-account: 1 } }")).toMatchObject({
      spaces: { spaces: [], others: { weight: 1, quotas: [{ pool: "aws-account", max: 1 }] } },
    });
  });

  test("stand beside Boskos's resources as well", () => {
    const boskos = "resources: [{ type: aws, state: free, names: [one] }]";
    const file = `${boskos}\nspaces: { a: { quota: { aws: 1 } } }`;
    expect(parseConfig(file, "b.yaml")).toMatchObject({
      format: "boskos",
      spaces: { spaces: [{ name: "a", policy: { quotas: [{ pool: "aws", max: 1 }] } }] },
    });
  });

  test("warn of a pattern that matches no pool", () => {
    const config = read(`${auth("a")}spaces: { a: { pools: [aws-acount] } }`);
    expect(config.ok ? config.warnings.map(formatWarning) : []).toEqual([
      expect.stringContaining('no pool matches "aws-acount" (did you mean aws-account?)'),
    ]);
  });

  const wrong: Record<string, [string, string]> = {
    "a key that there is not": ["{ a: { weigth: 2 } }", "there is no such key (write weight)"],
    "a weight of nothing": ["{ a: { weight: 0 } }", "0 is less than 0.01"],
    "a pool that there is not": [
      "{ a: { quota: { aws-acount: 2 } } }",
      'spaces.a.quota.aws-acount: there is no pool "aws-acount" (did you mean aws-account?)',
    ],
    "a dimension that there is not": [
      "{ a: { quota: { vsphere: { cpus: 2 } } } }",
      "there is no such key (write vcpus)",
    ],
    "an amount of an exclusive pool": [
      "{ a: { quota: { aws-account: { vcpus: 2 } } } }",
      "the pool is exclusive, so its resources have no amounts (write how many resources: aws-a",
    ],
    "a quota that is no number": ["{ a: { quota: { aws-account: two } } }", '"two" is not a whole'],
    "a name that is none": ["{ 'a b': {} }", '"a b" is not a name'],
    "a list": ["[a]", "is not a map of spaces"],
  };

  test.each(Object.entries(wrong))("are refused with %s", (_, [spaces, message]) => {
    const config = read(`spaces: ${spaces}`);
    expect(config.ok ? [] : config.problems.map(formatProblem).join("\n")).toContain(message);
  });
});
