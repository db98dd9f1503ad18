import { describe, expect, test } from "vitest";
import { BadBoskosObjects, parseBoskosObjects } from "./boskos-objects.ts";

const resource = (name: string, status: unknown = {}, type: unknown = "aws") => ({
  apiVersion: "boskos.k8s.io/v1",
  kind: "ResourceObject",
  metadata: { name },
  spec: { type },
  status,
});
const list = (...items: unknown[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });

function problems(text: string): readonly string[] {
  try {
    parseBoskosObjects(text);
    return [];
  } catch (error) {
    if (error instanceof BadBoskosObjects) return error.problems;
    throw error;
  }
}

describe("parseBoskosObjects()", () => {
  test("reads both kinds and counts the others", () => {
    const status = {
      state: "leased",
      owner: "job/1",
      lastUpdate: "2026-06-09T10:01:46Z",
      userData: { key: "value" },
      expirationDate: "2026-06-11T10:01:46Z",
    };
    const lifecycle = {
      kind: "DRLCObject",
      metadata: { name: "dt" },
      spec: { "min-count": 2, "max-count": 4, lifespan: 3_600_000_000_000 },
    };
    expect(parseBoskosObjects(list(resource("a", status), lifecycle, { kind: "Pod" }))).toEqual({
      resources: [
        {
          name: "a",
          type: "aws",
          state: "leased",
          owner: "job/1",
          userData: { key: "value" },
          updatedAt: Date.UTC(2026, 5, 9, 10, 1, 46),
          expiresAt: Date.UTC(2026, 5, 11, 10, 1, 46),
        },
      ],
      lifecycles: [{ type: "dt", min: 2, max: 4 }],
      others: new Map([["Pod", 1]]),
    });
  });

  test("treats missing and null fields as Go's empty values", () => {
    const empty = { state: "", owner: "", userData: {}, updatedAt: undefined };
    const nothing = { lastUpdate: null, userData: null, expirationDate: null };
    const found = parseBoskosObjects(list(resource("a", nothing), resource("b", undefined)));
    expect(found.resources).toMatchObject([empty, empty]);
  });

  test("accepts a single object", () => {
    expect(parseBoskosObjects(JSON.stringify(resource("a"))).resources).toHaveLength(1);
  });

  const bad: Readonly<Record<string, readonly [text: string, ...problems: string[]]>> = {
    "no JSON": ["items: []", "Cannot read the file: it is not JSON"],
    "half of it": ['{"items": [', "Cannot read the file: it is not JSON"],
    "a mistake in it": ['{\n  "items": [secret]\n}', "Cannot read the file: it is not JSON"],
    "a list": [
      "[]",
      "Cannot read the file: it is not an object",
      "Cannot read items: it is missing",
    ],
    "no items": ["{}", "Cannot read items: it is missing"],
    "items that are none": ['{"items": {}}', "Cannot read items: it is not a list"],
    "an item without a kind": [list({}), "Cannot read items[0].kind: it is missing"],
    "an owner that is no text": [
      list(resource("a"), resource("b", { owner: 7 })),
      "Cannot read items[1].status.owner: it is not text",
    ],
    "user data that is no text, which is not repeated": [
      list(resource("a", { userData: { key: { secret: "s3cr3t" } } })),
      "Cannot read items[0].status.userData.key: it is not text",
    ],
    "user data with NUL": [
      list(resource("a", { userData: { key: "s3cr3t\0" } })),
      'Cannot read items[0].status.userData: the value of "key" in its user data has a NUL character',
    ],
    "user data that is too long": [
      list(resource("a", { userData: { key: "s3cr3t".repeat(3_000) } })),
      'Cannot read items[0].status.userData: the value of "key" in its user data has more than ' +
        "16384 characters",
    ],
    "a time that is none": [
      list(resource("a", { lastUpdate: "soon" })),
      "Cannot read items[0].status.lastUpdate: it is not a time such as 2026-01-31T12:00:00Z",
    ],
    "no type": [list(resource("a", {}, "")), "Cannot read items[0].spec.type: it is missing"],
    "a status that is a word": [
      list(resource("a", "free")),
      "Cannot read items[0].status: it is not an object",
    ],
    "two of a name": [
      list(resource("a"), resource("a")),
      "Cannot read items[1].metadata.name: items[0].metadata.name is the same; " +
        "take one namespace with kubectl -n",
    ],
    "a count that is none": [
      list({ kind: "DRLCObject", metadata: { name: "dt" }, spec: { "min-count": "2" } }),
      "Cannot read items[0].spec.min-count: it is not a whole number",
    ],
  };

  test.each(Object.entries(bad))("rejects %s", (_, [text, ...want]) => {
    const found = problems(text).map((problem) => problem.replace(/ from line .*/, ""));
    expect(found).toEqual(want);
    expect(JSON.stringify(found)).not.toContain("s3cr3t");
  });

  test("never quotes the text at a JSON error", () => {
    expect(problems('{"userData": {"key": "AKIA-SECRET" oops}}').join()).not.toMatch(/AKIA|oops/);
  });
});
