import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const base = {
  templates: { small: { driver: "namespace" } },
  pools: { made: { template: "small", max: 2 }, listed: { count: 1 } },
};
const parse = (caas: unknown) => parseConfig(JSON.stringify({ ...base, caas }), "berth.yaml");

function problemsOf(caas: unknown): string {
  const parsed = parse(caas);
  if (parsed.ok) throw new Error("It was accepted");
  return parsed.problems.map(formatProblem).join("\n");
}

describe("caas:", () => {
  test("names API servers, and the pool of each template, tier and claim", () => {
    const tenants = {
      ...{ kubeconfig: "tenants.kubeconfig", context: "east", namespaces: ["team-a", "team-b"] },
      ...{ clusterTemplates: { tiny: "made" }, spaceRequests: { appstudio: "made" } },
      namespaceClaims: "made",
    };
    expect(parse({ tenants })).toMatchObject({
      ok: true,
      fronts: [
        {
          ...{ name: "tenants", kubeconfig: "tenants.kubeconfig", context: "east" },
          clusterTemplates: new Map([["tiny", "made"]]),
          spaceRequests: new Map([["appstudio", "made"]]),
          ...{ namespaceClaims: "made", namespaces: ["team-a", "team-b"] },
        },
      ],
    });
  });

  test("serves all namespaces, and nothing that it does not name", () => {
    expect(parse({ one: { namespaceClaims: "made" } })).toMatchObject({
      ok: true,
      fronts: [
        {
          clusterTemplates: new Map(),
          spaceRequests: new Map(),
          namespaces: undefined,
          name: "one",
        },
      ],
    });
    expect(parse(undefined)).toMatchObject({ ok: true, fronts: [] });
  });

  test.each([
    ["that serves nothing", { one: {} }, /caas\.one: it serves nothing/],
    ["with an unknown key", { one: { clusterTemplate: { a: "made" } } }, /clusterTemplate/],
    [
      "with a pool that is misspelt",
      { one: { namespaceClaims: "mad" } },
      /no pool "mad"[\s\S]*write made/,
    ],
    [
      "with a pool that is not there",
      { one: { spaceRequests: { t: "x" } } },
      /no pool "x"[\s\S]*add the pool/,
    ],
    [
      "with a pool that makes nothing",
      { one: { clusterTemplates: { t: "listed" } } },
      /the pool listed has no template/,
    ],
    ["with a number for a pool", { one: { namespaceClaims: 7 } }, /namespaceClaims/],
    ["with a list of templates", { one: { clusterTemplates: ["t"] } }, /map of names to pools/],
    [
      "with a namespace that is none",
      { one: { namespaceClaims: "made", namespaces: ["Team A"] } },
      /namespaces/,
    ],
    ["that is a text", { one: "made" }, /API server to serve/],
    ["with a name that is none", { "a b": { namespaceClaims: "made" } }, /a b/],
  ])("refuses one %s", (_, caas, message) => {
    expect(problemsOf(caas)).toMatch(message);
  });
});
