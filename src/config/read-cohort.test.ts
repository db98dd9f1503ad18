import { describe, expect, test } from "vitest";
import { parseConfig } from "./parse.ts";

const head = `auth: { anonymous: { space: a, role: holder } }
pools: { aws: { count: 9 }, vms: { place: pack, members: { r: { capacity: { vcpus: 9 } } } } }
`;

function parse(text: string) {
  return parseConfig(`${head}${text}`, "berth.yaml");
}

describe("cohort", () => {
  test("has quotas with what may be borrowed and lent", () => {
    const bounds = "borrow: { aws: 1 }, lend: { vms: { vcpus: 2 } }";
    const quota = "quota: { aws: 2, vms: { vcpus: 4 } }";
    const parsed = parse(
      `spaces: { a: { cohort: x, ${quota}, ${bounds} }, b: { cohort: x, quota: { aws: 1 } } }`,
    );
    expect(parsed).toMatchObject({
      ok: true,
      warnings: [],
      spaces: {
        spaces: [
          {
            policy: {
              cohort: "x",
              quotas: [
                { pool: "aws", max: 2, borrow: 1 },
                { pool: "vms", dimension: "vcpus", max: 4, lend: 2 },
              ],
            },
          },
          { policy: { cohort: "x", quotas: [{ pool: "aws", max: 1 }] } },
        ],
      },
    });
  });

  test("warns of a space that is alone in its cohort", () => {
    const parsed = parse("spaces: { a: { cohort: x, quota: { aws: 2 } } }");
    const message = expect.stringContaining('"a" is the only space of the cohort "x"');
    expect(parsed).toMatchObject({ ok: true, warnings: [{ message }] });
  });

  test.each([
    ["spaces: { a: { cohort: x } }", /the space has no quota to lend or borrow/],
    ["spaces: { a: { quota: { aws: 2 }, borrow: { aws: 1 } } }", /the space has no cohort/],
    [
      "spaces: { a: { cohort: x, quota: { aws: 2 }, lend: { vms: { vcpus: 1 } } } }",
      /no quota of vcpus of vms/,
    ],
    [
      "spaces: { a: { cohort: x, quota: { aws: 2 }, borrow: { awz: 1 } } }",
      /there is no pool "awz"/,
    ],
    ["spaces: { a: { cohort: x, quota: { aws: 2 }, borrow: { aws: -1 } } }", /-1 is less than 0/],
    ["spaces: { a: { cohort: 5, quota: { aws: 2 } } }", /5 is a number/],
    [
      "spaceDefaults: { cohort: x, quota: { aws: 2 } }",
      /only spaces that are listed can have a cohort/,
    ],
  ])("refuses %s", (text, message) => {
    const parsed = parse(text);
    const problems = parsed.ok ? [] : parsed.problems.map((problem) => problem.message);
    expect(problems).toContainEqual(expect.stringMatching(message));
  });
});
