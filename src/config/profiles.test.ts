import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const pools =
  "pools: { aws-slice: { count: 1 }, org-slice: { count: 1 }, ips-us-east-1: { count: 1 } }";

function read(profiles: string) {
  return parseConfig(`${pools}\nprofiles: ${profiles}`, "berth.yaml");
}

describe("profiles", () => {
  test("name pools, addresses and the members of a set", () => {
    const config = read(
      "{ aws: { type: aws, pool: aws-slice, ipPool: ips }, org: { type: aws, pool: org-slice, members: [aws] } }",
    );
    expect(config).toMatchObject({
      ok: true,
      warnings: [],
      profiles: [
        { name: "aws", type: "aws", pool: "aws-slice", ipPool: "ips" },
        { name: "org", type: "aws", pool: "org-slice", members: ["aws"] },
      ],
    });
  });

  test("may stand beside the resources of a Boskos file, and are checked as well", () => {
    const boskos = "resources: [{ type: aws-quota-slice, state: free, names: [one, two] }]";
    const file = (profiles: string) => parseConfig(`${boskos}\nprofiles: ${profiles}`, "b.yaml");
    expect(file("{ aws: { type: aws, pool: aws-quota-slice } }")).toMatchObject({
      ...{ ok: true, format: "boskos", warnings: [], pools: [{ name: "aws-quota-slice" }] },
      profiles: [{ name: "aws", pool: "aws-quota-slice" }],
    });
    const wrong = file("{ aws: { type: aws, pool: aws-slice } }");
    expect(wrong.ok ? [] : wrong.problems.map(formatProblem)).toEqual([
      'b.yaml:2:37: Cannot read profiles.aws.pool: there is no pool "aws-slice" (add it, or name another pool)',
    ]);
  });

  test("are none where none are written", () => {
    expect(parseConfig(pools, "berth.yaml")).toMatchObject({ ok: true, profiles: [] });
  });

  test.each([
    [
      "{ aws: { type: aws, pool: aws-slcie } }",
      'profiles.aws.pool: there is no pool "aws-slcie" (did you mean aws-slice?)',
    ],
    [
      "{ aws: { type: aws, pool: nothing-like-it } }",
      'profiles.aws.pool: there is no pool "nothing-like-it" (add it, or name another pool)',
    ],
    [
      "{ aws: { type: aws, pool: aws-slice, ipPool: addresses } }",
      "profiles.aws.ipPool: no pool is called addresses-<region> (add one, such as addresses-us-east-1)",
    ],
    [
      "{ org: { type: aws, pool: org-slice, members: [aws] } }",
      'profiles.org.members: there is no profile "aws" (add it, or name another profile)',
    ],
    [
      "{ aws: { pool: aws-slice } }",
      "profiles.aws: it has no type (write { type: aws, pool: aws-slice })",
    ],
    [
      "{ aws: { type: aws, pool: aws-slice, secret: x } }",
      "profiles.aws.secret: there is no such key (known here: type, pool, ipPool, members)",
    ],
    [
      "[aws]",
      "profiles: a list is not a map of profiles (write { aws: { type: aws, pool: aws-slice } })",
    ],
  ])("%s is refused", (profiles, said) => {
    const config = read(profiles);
    const problems = config.ok ? [] : config.problems.map(formatProblem);
    expect(problems.map((line) => line.replace(/^berth.yaml:2:\d+: Cannot read /, ""))).toEqual([
      said,
    ]);
  });
});
