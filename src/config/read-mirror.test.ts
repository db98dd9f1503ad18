import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const read = (mirror: string) => parseConfig(`pools: { a: { count: 1 } }\nmirror: ${mirror}`, "f");

describe("mirror:", () => {
  test("needs a namespace, and has defaults for the rest", () => {
    expect(read("{ namespace: berth }")).toMatchObject({
      mirror: { namespace: "berth", prefix: "berth", labels: {} },
    });
    const all = "{ namespace: ci, kubeconfig: ./k, context: c, prefix: b-2, labels: { team: ci } }";
    expect(read(all)).toMatchObject({
      mirror: {
        ...{ namespace: "ci", kubeconfig: "./k", context: "c", prefix: "b-2" },
        labels: { team: "ci" },
      },
    });
    expect(parseConfig("pools: { a: { count: 1 } }", "f")).toMatchObject({ mirror: undefined });
  });

  test("stands beside Boskos's resources as well", () => {
    const boskos = "resources: [{ type: aws, state: free, names: [one] }]";
    const file = (mirror: string) => parseConfig(`${boskos}\nmirror: ${mirror}`, "b.yaml");
    expect(file("{ namespace: ci }")).toMatchObject({
      format: "boskos",
      mirror: { namespace: "ci", prefix: "berth", labels: {} },
    });
    const bad = file("{ namespace: CI }");
    expect(bad.ok ? [] : bad.problems.map(formatProblem).join("\n")).toMatch(
      /^b\.yaml:2:22: Cannot read mirror\.namespace: "CI" is not a namespace \(.+\)$/,
    );
  });

  const wrong: Record<string, [string, string]> = {
    "no namespace": ["{}", "mirror: it has no namespace"],
    "a namespace with capitals": ["{ namespace: CI }", '"CI" is not a namespace'],
    "a prefix that no name begins with": ["{ namespace: a, prefix: 1a }", '"1a" is not a prefix'],
    "a key that there is not": ["{ namespaces: a }", "there is no such key (write namespace)"],
    "a label that Kubernetes refuses": [
      "{ namespace: a, labels: { team: -x } }",
      '"-x" is not a Kubernetes label value',
    ],
    "a label of Berth's own": [
      "{ namespace: a, labels: { berth/mirror: x } }",
      "Berth sets this label itself",
    ],
  };

  test.each(Object.entries(wrong))("is refused with %s", (_, [mirror, message]) => {
    const config = read(mirror);
    expect(config.ok ? [] : config.problems.map(formatProblem).join("\n")).toContain(message);
  });
});
