import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { loadConfig } from "./load.ts";
import { type GoodConfig, parseConfig } from "./parse.ts";

const parse = (text: string) => parseConfig(text, "berth.yaml");

function good(text: string): GoodConfig {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join("\n"));
  return parsed;
}

function problems(text: string): string[] {
  const parsed = parse(text);
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

const whole = `
templates:
  ocp-aws:
    driver: command
    command: [./driver.sh, --fast]
    env: { REGION: eu-1, TOOLS: { env: TOOLS } }
    timeout: 2m
    hibernates: true
    parameters: { version: { enum: ["4.19", "4.20"], default: "4.20" }, workers: { type: integer, maximum: 6 } }
    pinned: { region: us-east-1 }
    credentials:
      aws: { file: aws.ini }
      token: { env: CLOUD_TOKEN }
      pull: { secret: hive/pull-secret, key: .dockerconfigjson }
    cost: 10
    limits: { create: 40m, destroy: 2h }
    orphans: destroy
  ns: { driver: namespace, quota: { pods: 20, requests.cpu: "4" }, parameters: { pods: { type: integer, maximum: 50 } } }
  byo: { driver: command, command: [./driver.sh], ownCredentials: aws }
pools:
  ocp-4.20: { template: ocp-aws, size: 6, running: 2, max: 20, concurrent: 4, lifetime: 4h, parameters: { workers: 3 } }
  spaces: { template: ns, size: 2 }
  demand: { template: ocp-aws, running: 0 }
`;

describe("templates", () => {
  test("are read as a whole", () => {
    const { templates, pools } = good(whole);
    const [ocp, ns, byo] = templates;
    expect(byo?.ownCredentials).toBe("aws");
    expect(ocp).toMatchObject({
      name: "ocp-aws",
      revision: expect.stringMatching(/^[0-9a-f]{12}$/),
      how: {
        driver: "command",
        command: ["./driver.sh", "--fast"],
        env: { REGION: "eu-1", TOOLS: { env: "TOOLS" } },
        timeoutMs: 120_000,
      },
      parameters: { version: { enum: ["4.19", "4.20"], default: "4.20" } },
      pinned: { region: "us-east-1" },
      credentials: {
        aws: { from: "file", path: "aws.ini" },
        token: { from: "env", variable: "CLOUD_TOKEN" },
        pull: { from: "secret", namespace: "hive", name: "pull-secret", key: ".dockerconfigjson" },
      },
      ownCredentials: null,
      cost: 10,
      limits: { createMs: 2_400_000, resumeMs: 900_000, stopMs: 900_000, destroyMs: 7_200_000 },
      hibernates: true,
      orphans: "destroy",
    });
    expect(ns).toMatchObject({
      how: { driver: "namespace", quota: { pods: "20", "requests.cpu": "4" } },
      ...{ hibernates: false, cost: 0, orphans: "report", ownCredentials: null },
    });
    for (const { policy } of pools) {
      expect([policy.onRelease, policy.onExpire]).toEqual(["destroying", "destroying"]);
    }
    expect(pools.map(({ policy }) => [policy.cost, policy.cluster])).toEqual([
      [
        10,
        {
          ...{ template: "ocp-aws", revision: ocp?.revision, size: 6, running: 2, max: 20 },
          ...{ concurrent: 4, hibernates: true, limits: ocp?.limits },
          parameters: { version: "4.20", workers: 3 },
        },
      ],
      [
        undefined,
        {
          ...{ template: "ns", revision: ns?.revision, size: 2, running: 2, hibernates: false },
          ...{ limits: ns?.limits, parameters: {} },
        },
      ],
      [10, expect.objectContaining({ size: 0, running: 0, parameters: { version: "4.20" } })],
    ]);
  });

  const command = "driver: command, command: [./d.sh]";
  const one = (template: string, pool = "{ template: t }") =>
    `templates: { t: { ${template} } }\npools: { p: ${pool} }`;

  test.each([
    [
      "no driver",
      one("cost: 1"),
      "templates.t: it has no driver (add driver: command, namespace, hive, hypershift, caas or cluster-api)",
    ],
    [
      "an unknown driver",
      one("driver: hiv"),
      '"hiv" is not a driver (did you mean hive? Otherwise write command, namespace, hive, ',
    ],
    [
      "a driver that is like no other",
      one("driver: terraform"),
      '"terraform" is not a driver (write command, namespace, hive, hypershift, caas or cluster-api)',
    ],
    [
      "no command",
      one("driver: command"),
      "it has no command (add command: and write [./driver.sh])",
    ],
    ["a key of another driver", one(`${command}, quota: {}`), "only the driver namespace has it"],
    [
      "an unknown key",
      one(`${command}, parametres: {}`),
      "there is no such key (write parameters)",
    ],
    [
      "a bad schema",
      one(`${command}, parameters: { v: { type: int } }`),
      '"int" is not a type of a parameter',
    ],
    [
      "a bad pattern",
      one(`${command}, parameters: { v: { pattern: "(" } }`),
      '"(" is not a pattern of a parameter',
    ],
    [
      "a default that its schema refuses",
      one(`${command}, parameters: { v: { enum: [a], default: b } }`),
      'parameters.v.default: "b" is not allowed by its own schema',
    ],
    [
      "a version in a list that YAML reads as another number",
      one(`${command}, parameters: { v: { enum: [4.19, 4.20], default: 4.19 } }`),
      'parameters.v.enum[1]: 4.20 is the number 4.2 (quote it: "4.20")',
    ],
    [
      "a default that YAML reads as another number",
      one(`${command}, parameters: { v: { default: 1.10 } }`),
      'parameters.v.default: 1.10 is the number 1.1 (quote it: "1.10")',
    ],
    [
      "the same of a text",
      one(`${command}, parameters: { v: { type: string, default: 4.20 } }`),
      'parameters.v.default: 4.20 is the number 4.2 (quote it: "4.20")',
    ],
    [
      "a number as the default of a text",
      one(`${command}, parameters: { v: { type: string, default: 4.19 } }`),
      'parameters.v.default: 4.19 is a number, not a text (quote it: "4.19")',
    ],
    [
      "a number among texts",
      one(`${command}, parameters: { v: { enum: ["17", "18"], default: 17 } }`),
      '17 is not allowed by its own schema (quote it: "17")',
    ],
    [
      "a number of a pool among texts",
      one(
        `${command}, parameters: { v: { enum: ["4.19", "4.20"] } }`,
        "{ template: t, parameters: { v: 4.20 } }",
      ),
      'pools.p.parameters.v: 4.20 is not allowed by the template "t" (quote it: "4.20")',
    ],
    [
      "a version of a pool that YAML reads as another number",
      one(`${command}, parameters: { v: {} }`, "{ template: t, parameters: { v: 4.20 } }"),
      'pools.p.parameters.v: 4.20 is the number 4.2 (quote it: "4.20")',
    ],
    [
      "a parameter with the name that Berth uses itself",
      one(`${command}, parameters: { credentials: {} }`),
      "parameters.credentials: Berth uses this name itself",
    ],
    [
      "stock of clusters that are made with the credentials of who asks",
      one(`${command}, ownCredentials: aws, hibernates: true`, "{ template: t, size: 2 }"),
      'p.size: the template "t" has ownCredentials, so its clusters cannot be made before',
    ],
    [
      "a parameter that is pinned as well",
      one(`${command}, parameters: { v: {} }, pinned: { v: 1 }`),
      "pinned.v: it stands among the parameters as well",
    ],
    [
      "two places of a secret",
      one(`${command}, credentials: { a: { file: x, env: Y } }`),
      "it names two places",
    ],
    [
      "no place of a secret",
      one(`${command}, credentials: { a: {} }`),
      "it does not say where the secret is",
    ],
    ["a Secret without key", one(`${command}, credentials: { a: { secret: n/s } }`), "needs a key"],
    [
      "a Secret without namespace",
      one(`${command}, credentials: { a: { secret: s, key: k } }`),
      "write NAMESPACE/NAME",
    ],
    [
      "a limit out of range",
      one(`${command}, limits: { create: 30d }`),
      "30d is longer than is allowed",
    ],
    [
      "a parameter that no quota has",
      one("driver: namespace, parameters: { cpu: {} }, quota: { pods: 1 }"),
      'a namespace can differ only in its quota, which has no "cpu"',
    ],
    [
      "a template that does not exist",
      one(command, "{ template: s }"),
      'there is no template "s" (did you mean t?)',
    ],
    [
      "count as well",
      one(command, "{ template: t, count: 1 }"),
      "the pool has a template: it makes its resources",
    ],
    [
      "a janitor as well",
      one(command, "{ template: t, onRelease: dirty }"),
      "used clusters are always destroyed",
    ],
    [
      "size without a template",
      one(command, "{ count: 1, size: 2 }"),
      "size: the pool has no template",
    ],
    [
      "sleeping clusters of a driver that has none",
      one(command, "{ template: t, size: 3, running: 1 }"),
      'running: the clusters of the template "t" cannot hibernate (write running: 3, or hibernates: true',
    ],
    [
      "the same for namespaces",
      one("driver: namespace", "{ template: t, size: 3, running: 1 }"),
      '"t" cannot hibernate (write running: 3)',
    ],
    [
      "more awake than there are",
      one(command, "{ template: t, size: 1, running: 2 }"),
      "2 is more than size, which is 1",
    ],
    [
      "more than max",
      one(command, "{ template: t, size: 5, max: 2 }"),
      "5 is more than max, which is 2",
    ],
    [
      "an unknown parameter of a pool",
      one(`${command}, parameters: { version: {} }`, "{ template: t, parameters: { verson: 1 } }"),
      'the template "t" has no such parameter (did you mean version?)',
    ],
    [
      "a pinned parameter of a pool",
      one(`${command}, pinned: { region: eu }`, "{ template: t, parameters: { region: us } }"),
      'the template "t" has pinned it',
    ],
    [
      "a value that the template refuses",
      one(
        `${command}, parameters: { n: { type: integer, maximum: 3 } }`,
        "{ template: t, parameters: { n: 4 } }",
      ),
      '4 is not allowed by the template "t" (write what its schema allows: {"type":"integer","maximum":3})',
    ],
  ])("refuse %s", (_, text, message) => {
    const found = problems(text);
    expect(found.join("\n")).toContain(message);
    expect(found[0]).toMatch(/^berth\.yaml:\d+:\d+: Cannot read /);
  });

  test("may have numbers that are meant as numbers", () => {
    const numbers = "a: { enum: [1, 2] }, b: { type: number, enum: [0.50, 1.0], default: 1.0 }";
    const text = one(`${command}, parameters: { ${numbers} }`, "{ template: t, size: 1 }");
    expect(good(text).templates[0]?.parameters).toMatchObject({ b: { enum: [0.5, 1] } });
  });

  test("warn of a pinned version that YAML reads as another number", () => {
    const { warnings } = good(one(`${command}, pinned: { v: 4.20, w: 4.19, x: "4.20" }`));
    expect(warnings.map(formatWarning)).toEqual([
      expect.stringContaining('templates.t.pinned.v: 4.20 is the number 4.2 (quote it: "4.20")'),
    ]);
  });

  test.each([
    ["driver: hypersift", "did you mean hypershift?"],
    ["driver: hive", "it makes nothing"],
    ["cost: 1", "it has no driver"],
    ["driver: command, command: [./d.sh], envv: {}", "there is no such key (write env)"],
  ])("that are wrong (%s) are one problem, not one of each pool and front too", (wrong, want) => {
    const front = "caas: { dev: { spaceRequests: { a: p } } }\n";
    expect(problems(front + one(wrong))).toEqual([expect.stringContaining(want)]);
  });

  test("do not repeat what stands where a secret could", () => {
    const text = one(`${command}, credentials: { a: hunter2-secret }`);
    expect(problems(text)).toEqual([expect.stringContaining("it is not a reference to a secret")]);
    expect(problems(text).join()).not.toContain("hunter2");
  });
});

describe("the revision of a template", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-templates-"));
    await writeFile(join(folder, "driver.sh"), "#!/bin/sh\n");
    await chmod(join(folder, "driver.sh"), 0o755);
    await writeFile(join(folder, "aws.ini"), "key = very-secret-1");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const file = () => join(folder, "berth.yaml");
  const text = (more = "", cost = 1) =>
    `templates:
  t: { driver: command, command: [./driver.sh], credentials: { aws: { file: aws.ini } }, cost: ${cost} ${more} }
pools: { p: { template: t } }`;
  async function load(content = text()) {
    await writeFile(file(), content);
    const parsed = await loadConfig(file());
    if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join("\n"));
    return {
      revision: parsed.templates[0]?.revision ?? "",
      warnings: parsed.warnings.map(formatWarning),
      parsed,
    };
  }

  test("changes with the program, with a secret, and with the template", async () => {
    const first = await load();
    expect(first.warnings).toEqual([]);
    expect((await load()).revision).toBe(first.revision);
    await writeFile(join(folder, "aws.ini"), "key = very-secret-2");
    const second = await load();
    await writeFile(join(folder, "driver.sh"), "#!/bin/sh\nexit 0\n");
    const third = await load();
    const fourth = await load(text(", pinned: { region: eu }"));
    const all = [first, second, third, fourth].map(({ revision }) => revision);
    expect(new Set(all).size).toBe(4);
    expect(JSON.stringify(fourth.parsed)).not.toContain("very-secret");
  });

  test("stays when only its cost, its limits or the order of keys change", async () => {
    const { revision } = await load(text(", pinned: { a: 1, b: 2 }"));
    const other = text(", limits: { create: 2h }, pinned: { b: 2, a: 1 }", 7);
    expect((await load(other)).revision).toBe(revision);
  });

  test("is known, with a warning, if a file is missing", async () => {
    await rm(join(folder, "aws.ini"));
    const { warnings, revision } = await load();
    expect(revision).toMatch(/^[0-9a-f]{12}$/);
    expect(warnings.join()).toContain(`"${join(folder, "aws.ini")}" cannot be read here`);
    await rm(join(folder, "driver.sh"));
    const others = (await load()).warnings.filter((text) => text.includes("driver.sh"));
    expect(others).toHaveLength(1);
    expect(others[0]).toContain("cannot be run here: there is no such program");
  });
});
