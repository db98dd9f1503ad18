import { describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { parseConfig } from "./parse.ts";

const read = (rules: string) =>
  parseConfig(`pools: { a: { count: 1 } }\nauth: { certificates: ${rules} }`, "f");

describe("auth.certificates:", () => {
  test("says who shows which certificate", () => {
    const first = '{ subject: "CN=ci-*, O=Acme\\\\, Inc", space: ci, role: holder, name: ci }';
    const second = '{ san: "URI:spiffe://acme/*", space: ops, role: admin }';
    expect(read(`[${first}, ${second}]`)).toMatchObject({
      ok: true,
      warnings: [],
      auth: {
        certificates: [
          {
            subject: [
              ["CN", "ci-*"],
              ["O", "Acme, Inc"],
            ],
            space: "ci",
            role: "holder",
            name: "ci",
          },
          { san: "URI:spiffe://acme/*", space: "ops", role: "admin" },
        ],
      },
    });
  });

  test.each(['subject: "CN=*"', 'san: "DNS:*"', 'subject: "CN=*,O=*", san: "URI:**"'])(
    "warns if everyone would be an admin: %s",
    (who) => {
      const config = read(`[{ ${who}, space: a, role: admin }]`);
      expect(config.ok ? config.warnings.map(formatWarning) : []).toEqual([
        expect.stringContaining("everyone with a certificate of the authorities would be admin"),
      ]);
    },
  );

  const wrong: Record<string, [string, string]> = {
    "no list": ["{}", "auth.certificates"],
    "a key that there is not": ['[{ sans: "DNS:a", space: a, role: holder }]', "(write san)"],
    "nobody named": [
      "[{ space: a, role: holder }]",
      "auth.certificates[0]: it has neither subject nor san",
    ],
    "no role": ['[{ san: "DNS:a", space: a }]', "auth.certificates[0]: it has no role"],
    "a role that there is not": ['[{ san: "DNS:a", space: a, role: x }]', 'there is no role "x"'],
    "an attribute that there is not": [
      '[{ subject: "XY=a", space: a, role: holder }]',
      'auth.certificates[0].subject: "XY=a" is not a pattern of a subject (write it like',
    ],
    "a subject without an attribute": [
      "[{ subject: ci, space: a, role: holder }]",
      '"ci" is not a pattern of a subject',
    ],
    "an attribute without a value": [
      '[{ subject: "CN=", space: a, role: holder }]',
      '"CN=" is not a pattern of a subject',
    ],
    "an alternative name without a type": [
      "[{ san: ci.example, space: a, role: holder }]",
      '"ci.example" is not a pattern of an alternative name (write it like',
    ],
  };

  test.each(Object.entries(wrong))("is refused with %s", (_, [rules, message]) => {
    const config = read(rules);
    expect(config.ok ? "" : config.problems.map(formatProblem).join("\n")).toContain(message);
  });
});
