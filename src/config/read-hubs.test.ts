import { describe, expect, test } from "vitest";
import { formatProblem } from "./document.ts";
import { parseConfig } from "./parse.ts";

const hubs = `
hubs:
  east: { kubeconfig: east.kubeconfig, limit: 9, labels: { region: us }, foreign: { purpose: test } }
  west: { kubeconfig: west.kubeconfig, context: ci, labels: { region: us }, state: draining }
  asia: { labels: { region: jp } }
`;

function parsed(choice: string, more = "", file = hubs) {
  const template = `{ driver: namespace, hubs: ${choice}${more} }`;
  return parseConfig(`${file}templates: { ns: ${template} }\npools: { ns: { template: ns } }`, "f");
}

function problem(choice: string, more = "", file = hubs): string {
  const result = parsed(choice, more, file);
  return result.ok ? "" : result.problems.map(formatProblem).join("\n");
}

describe("hubs", () => {
  test("are read with what the provisioner needs", () => {
    const result = parsed("{}");
    expect(result.ok && result.hubs).toEqual([
      {
        ...{ name: "east", kubeconfig: "east.kubeconfig", limit: 9, labels: { region: "us" } },
        foreign: { purpose: "test" },
      },
      {
        ...{ name: "west", kubeconfig: "west.kubeconfig", context: "ci", state: "draining" },
        labels: { region: "us" },
      },
      { name: "asia", labels: { region: "jp" } },
    ]);
  });

  test.each([
    ["{}", ["east", "west", "asia"]],
    ["{ region: us }", ["east", "west"]],
    ["[asia, east]", ["asia", "east"]],
  ])("a template chooses %s", (choice, want) => {
    const result = parsed(choice);
    expect(result.ok && result.pools[0]?.policy.cluster?.hubs).toEqual(want);
  });

  test.each([
    ["{ region: eu }", "no hub has these labels"],
    ["[eats]", "did you mean east?"],
    ["[]", "it names no hub"],
    ["east", "list of hubs"],
  ])("a template cannot choose %s", (choice, want) => {
    expect(problem(choice)).toContain(want);
  });

  test("a template has hubs or a kubeconfig", () => {
    expect(problem("{}", ", kubeconfig: other")).toContain("the template has hubs");
  });

  test.each([
    ["hubs: { east: { state: gone } }\n", "write active, cordoned or draining"],
    ["hubs: { east: { limit: -1 } }\n", "limit"],
    ["hubs: { east: { kubconfig: x } }\n", "kubeconfig"],
    ["", "there are no hubs"],
  ])("bad hubs are refused: %s", (file, want) => {
    expect(problem("{}", "", file)).toContain(want);
  });

  test("only drivers on an API server have hubs", () => {
    const file = `${hubs}templates: { t: { driver: command, command: [x], hubs: {} } }\npools: {}`;
    const result = parseConfig(file, "f");
    expect(result.ok ? "" : result.problems.map(formatProblem).join()).toContain("have it");
  });
});
