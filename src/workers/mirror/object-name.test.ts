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
    "hashes one with other letters": ["AWS_1.eu", /^berth-aws-1-eu-[0-9a-f]{16}$/],
    "hashes one that ends with a dash": ["aws-", /^berth-aws-[0-9a-f]{16}$/],
    "cuts and hashes a long one": ["a".repeat(253), /^berth-a{40}-[0-9a-f]{16}$/],
    "hashes what looks hashed": [
      `aws-${"0123456789abcdef"}`,
      /^berth-aws-0123456789abcdef-[0-9a-f]{16}$/,
    ],
  };

  test.each(Object.entries(cases))("%s", (_, [resource, name]) => {
    expect(nameOf(resource)).toMatch(name);
  });

  const resource = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/);

  test("makes a name that Kubernetes takes, and no two alike", () => {
    fc.assert(
      fc.property(resource, resource, (one, other) => {
        expect(nameOf(one)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
        if (one !== other) expect(nameOf(one)).not.toBe(nameOf(other));
      }),
    );
  });

  test("tells apart what differs in nothing but what Kubernetes has not", () => {
    const alike = ["aws.1", "aws_1", "AWS.1", "aws-1", "Aws-1", `${nameOf("aws.1").slice(6)}`];
    expect(new Set(alike.map((each) => nameOf(each))).size).toBe(alike.length);
  });

  test("names each share of a resource", () => {
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
