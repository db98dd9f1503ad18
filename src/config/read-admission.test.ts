import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const read = (admission: string) =>
  parseConfig(`pools: { kind: { count: 1, admission: ${admission} } }`, "f");

describe("admission:", () => {
  test("has defaults for all but what is checked", () => {
    const config = read("{ checkCapacity: {} }");
    expect(config).toMatchObject({
      pools: [{ policy: { admission: { by: "the capacity check" } } }],
      admissions: [
        {
          pool: "kind",
          everyMs: 30_000,
          check: { margin: 1, overcommit: 1, clusterNamespace: "clusters", tolerate: [] },
        },
      ],
    });
    expect(parseConfig("pools: { a: { count: 1 } }", "f")).toMatchObject({ admissions: [] });
  });

  test("takes the options of the command", () => {
    const check =
      "{ kubeconfig: ./k, context: c, cpu: 4000, memory: 8000, margin: 1.2, overcommit: 0.9, " +
      "clusters: 6, clusterKind: things.v1.example.com, clusterNamespace: ns, tolerate: [ci] }";
    expect(read(`{ checkCapacity: ${check}, every: 2m }`)).toMatchObject({
      admissions: [
        {
          everyMs: 120_000,
          check: {
            ...{ kubeconfig: "./k", context: "c", cpu: 4_000, memory: 8_000, margin: 1.2 },
            ...{ overcommit: 0.9, clusters: 6, clusterKind: "things.v1.example.com" },
            ...{ clusterNamespace: "ns", tolerate: ["ci"] },
          },
        },
      ],
    });
  });

  const wrong: Record<string, [string, string]> = {
    "nothing to check": ["{ every: 1m }", "it does not say what is checked"],
    "text for an amount": ["{ checkCapacity: { cpu: 3000m } }", '"3000m" is not a whole number'],
    "a share of nothing": ["{ checkCapacity: { overcommit: 0 } }", "0 is less than 0.01"],
    "a kind without a group": ["{ checkCapacity: { clusterKind: pods } }", '"pods" is not a kind'],
    "a taint that is none": ["{ checkCapacity: { tolerate: [a b] } }", '"a b" is not a taint'],
    "no pause": ["{ checkCapacity: {}, every: 0 }", "0 is shorter than is allowed"],
    "another key": ["{ checkCapacity: { cpus: 1 } }", "there is no such key (write cpu)"],
  };

  test.each(Object.entries(wrong))("is refused with %s", (_, [admission, message]) => {
    const config = read(admission);
    expect(config.ok ? "" : config.problems.map(formatProblem).join("\n")).toContain(message);
  });
});
