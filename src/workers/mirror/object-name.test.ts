import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { grantedIn } from "./claims.suite.ts";
import { objectName } from "./object-name.ts";

const nameOf = (resource: string, prefix = "berth") => objectName(prefix, claimOn(resource));

function claimOn(resource: string) {
  const [claim] = grantedIn({ members: [resource] });
  if (claim === undefined) throw new Error("nothing was granted");
  return claim;
}

describe("objectName()", () => {
  const cases: Record<string, [resource: string, name: RegExp]> = {
    "keeps a name that Kubernetes allows": ["aws-account-1", /^berth-aws-account-1$/],
    "adds a hash to a name with other characters": ["AWS_1.eu", /^berth-aws-1-eu-[0-9a-f]{16}$/],
    "adds a hash to a name that ends with a dash": ["aws-", /^berth-aws-[0-9a-f]{16}$/],
    "cuts a long name and adds a hash": ["a".repeat(253), /^berth-a{40}-[0-9a-f]{16}$/],
    "adds a hash to a name that ends like a hash": [
      `aws-${"0123456789abcdef"}`,
      /^berth-aws-0123456789abcdef-[0-9a-f]{16}$/,
    ],
  };

  test.each(Object.entries(cases))("%s", (_, [resource, name]) => {
    expect(nameOf(resource)).toMatch(name);
  });

  const resource = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/);

  test("returns a valid and unique name", () => {
    fc.assert(
      fc.property(resource, resource, (one, other) => {
        expect(nameOf(one)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
        if (one !== other) expect(nameOf(one)).not.toBe(nameOf(other));
      }),
    );
  });

  test("returns different names for resources that differ only in characters that Kubernetes does not allow", () => {
    const alike = ["aws.1", "aws_1", "AWS.1", "aws-1", "Aws-1", `${nameOf("aws.1").slice(6)}`];
    expect(new Set(alike.map((each) => nameOf(each))).size).toBe(alike.length);
  });

  test("returns one name for each claim on a shared resource", () => {
    const room = { members: { big: { capacity: { vcpus: 8 } } }, place: "pack" };
    const shares = grantedIn(room, { vcpus: 2 }, { vcpus: 2 });
    const names = shares.map((share) => objectName("berth", share));
    expect(names).toEqual([
      expect.stringMatching(/^berth-big-[0-9a-f]{16}$/),
      expect.stringMatching(/^berth-big-[0-9a-f]{16}$/),
    ]);
    expect(names[0]).not.toBe(names[1]);
  });
});
