/**
 * The recipes of `examples/ci`: their own commands, with the variables of each CI system and a signed token, against
 * a server with the configuration of the guide. Each is run to its end, and cancelled.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  audience,
  makeKey,
  type SigningKey,
  signWith,
} from "../src/auth/issuers/test-issuer.suite.ts";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { pause } from "../src/client/pause.ts";
import { TestServer } from "./cli-processes.ts";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const recipe = (name: string) => read(`examples/ci/${name}`);
const operatorToken = "recipes-token-of-the-operator";

let server: TestServer;
let key: SigningKey;
let operator: BerthClient;
let github: Server;

/** The configuration of the guide, with the keys of this test instead of those of the systems. */
function issuers(path: string): object[] {
  const [, block = ""] =
    /^```yaml\n(auth:.*?)^```$/ms.exec(read("docs/guides/ci-systems.md")) ?? [];
  const { auth } = parse(block) as { auth: { issuers: object[] } };
  return auth.issuers.map((issuer) => ({ ...issuer, jwks: { file: path } }));
}

beforeAll(async () => {
  key = await makeKey("ci");
  const folder = await mkdtemp("/tmp/berth-ci-recipes-");
  const keys = join(folder, "keys.json");
  await writeFile(keys, JSON.stringify({ keys: [key.publicJwk] }));
  const tokens = [
    { name: "ops", sha256: tokenHash(operatorToken), space: "ops", role: "operator" },
  ];
  const pools = {
    "aws-account": { members: ["aws-1"], lockDelay: "0s" },
    "install-slot": { count: 1 },
  };
  server = await TestServer.startWith({ pools, auth: { tokens, issuers: issuers(keys) } });
  operator = new BerthClient({ url: server.url, token: operatorToken });
  // As GitHub's runner offers it to a job with `id-token: write`.
  github = createServer(async ({ url = "", headers }, answer) => {
    const wanted = new URL(url, "http://runner").searchParams.get("audience");
    const isJob = headers.authorization === "Bearer secret-of-the-runner";
    const claims = { iss: "https://token.actions.githubusercontent.com", aud: wanted };
    const own = { repository_owner: "acme", repository: "acme/shop", sub: "repo:acme/shop" };
    const value = await signWith(key, Date.now(), { ...claims, ...own });
    answer.writeHead(isJob ? 200 : 401).end(JSON.stringify({ count: 1, value }));
  }).listen(0, "127.0.0.1");
  await once(github, "listening");
});
afterAll(async () => {
  github.close();
  await server[Symbol.asyncDispose]();
});

interface System {
  /** The commands of the recipe, as the system runs them. */
  readonly argv: readonly string[];
  readonly env: () => Promise<NodeJS.ProcessEnv>;
  readonly holder: string;
  readonly caller: string;
  /** What the system sends when a job is cancelled, and to whom. */
  readonly cancel: { readonly signal: NodeJS.Signals; readonly to: "step" | "group" };
}

const idToken = (iss: string, claims: object) => signWith(key, Date.now(), { iss, ...claims });

const podToken = async () => {
  const serviceaccount = { name: "ci-runner", uid: "a1b2" };
  const claims = {
    sub: "system:serviceaccount:ci-shop:ci-runner",
    "kubernetes.io": { namespace: "ci-shop", serviceaccount },
  };
  const path = join(server.folder, "pod-token");
  const token = await idToken("https://kubernetes.default.svc.cluster.local", claims);
  await writeFile(path, token);
  return path;
};

const gitlabJob = parse(recipe("gitlab-ci.yml")).e2e as { script: string[] };
const [buildkiteStep] = parse(recipe("buildkite.yml")).steps as { command: string }[];
const [githubStep] = (
  parse(recipe("github-actions.yaml")).jobs["one-command"].steps as { run?: string }[]
).filter(({ run }) => run !== undefined);
const [, jenkinsScript = ""] = /sh '''\n(.*?)'''/s.exec(recipe("Jenkinsfile")) ?? [];
const [prowJob] = parse(recipe("prow.yaml")).presubmits["acme/shop"];
const [prowContainer] = prowJob.spec.containers as { command: string[]; args: string[] }[];
const [tektonStep] = parse(recipe("tekton.yaml")).spec.steps as { script: string }[];
const podCaller = "system:serviceaccount:ci-shop:ci-runner";

const systems: Readonly<Record<string, System>> = {
  "GitHub Actions": {
    argv: ["bash", "-e", "-c", githubStep?.run ?? ""],
    env: async () => ({
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_JOB: "one-command",
      GITHUB_RUN_ID: "9283745",
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(github.address() as AddressInfo).port}/token?v=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "secret-of-the-runner",
      BERTH_AUDIENCE: audience,
    }),
    holder: "acme/shop/one-command/9283745",
    caller: "acme/shop",
    cancel: { signal: "SIGINT", to: "step" },
  },
  GitLab: {
    argv: ["bash", "-eo", "pipefail", "-c", gitlabJob.script.join("\n")],
    env: async () => ({
      CI_PROJECT_PATH: "acme/shop",
      CI_JOB_NAME: "e2e",
      CI_JOB_ID: "302",
      BERTH_ID_TOKEN: await idToken("https://gitlab.com", { project_path: "acme/shop", sub: "x" }),
    }),
    holder: "acme/shop/e2e/302",
    caller: "acme/shop",
    cancel: { signal: "SIGTERM", to: "group" },
  },
  Jenkins: {
    argv: ["sh", "-xe", "-c", jenkinsScript],
    env: async () => {
      const sub = "https://jenkins.example.org/job/shop/";
      const token = await idToken("https://jenkins.example.org/oidc", { sub, build_number: 7 });
      return { JOB_NAME: "shop", BUILD_NUMBER: "7", BERTH_ID_TOKEN: token };
    },
    holder: "shop/7",
    caller: "https://jenkins.example.org/job/shop/",
    cancel: { signal: "SIGTERM", to: "group" },
  },
  Buildkite: {
    // Buildkite itself replaces `$`, and leaves one of two.
    argv: ["bash", "-e", "-c", buildkiteStep?.command.replaceAll("$$", "$") ?? ""],
    env: async () => ({
      BUILDKITE_PIPELINE_SLUG: "shop",
      BUILDKITE_BUILD_NUMBER: "41",
      PATH: `${await buildkiteAgent()}:${process.env["PATH"]}`,
    }),
    holder: "shop/41",
    caller: "shop",
    cancel: { signal: "SIGTERM", to: "group" },
  },
  Prow: {
    argv: [...(prowContainer?.command ?? []), ...(prowContainer?.args ?? [])],
    env: async () => ({
      JOB_NAME: "e2e-aws",
      BUILD_ID: "1841",
      BERTH_TOKEN_FILE: await podToken(),
    }),
    holder: "e2e-aws/1841",
    caller: podCaller,
    cancel: { signal: "SIGTERM", to: "step" },
  },
  Tekton: {
    argv: ["sh", "-c", tektonStep?.script ?? ""],
    env: async () => ({
      JOB_NAME: "e2e",
      BUILD_ID: "e2e-run-1",
      BERTH_TOKEN_FILE: await podToken(),
    }),
    holder: "e2e/e2e-run-1",
    caller: podCaller,
    cancel: { signal: "SIGTERM", to: "step" },
  },
};

/** Stands for Buildkite's agent, whose service nobody can reach here. */
async function buildkiteAgent(): Promise<string> {
  const claims = { organization_slug: "acme", pipeline_slug: "shop", sub: "organization:acme" };
  const token = await idToken("https://agent.buildkite.com", claims);
  const bin = join(server.folder, "buildkite");
  await mkdir(bin, { recursive: true });
  const wanted = `oidc request-token --audience ${audience} --lifetime 600`;
  const agent = `#!/bin/sh\n[ "$*" = '${wanted}' ] && echo '${token}'\n`;
  await writeFile(join(bin, "buildkite-agent"), agent);
  await chmod(join(bin, "buildkite-agent"), 0o755);
  return bin;
}

/** Runs the commands of a recipe in a folder with an `e2e.sh`. */
async function start({ argv, env }: System, e2e: string) {
  const cwd = await mkdtemp(join(server.folder, "job-"));
  await writeFile(join(cwd, "e2e.sh"), `#!/bin/sh\n${e2e}\n`);
  await chmod(join(cwd, "e2e.sh"), 0o755);
  const own = { PATH: process.env["PATH"], HOME: cwd, TMPDIR: cwd, BERTH_URL: server.url };
  const [file = "", ...args] = argv;
  const child = spawn(file, args, { cwd, env: { ...own, ...(await env()) }, detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  return { child, ended: once(child, "close"), said: () => said };
}

describe.each(Object.entries(systems))("the recipe for %s", (_, system) => {
  test("runs its commands with a lease, as the job that the token names", async () => {
    const { ended, said } = await start(system, 'echo "with $BERTH_RESOURCE_AWS_ACCOUNT"; exit 7');
    const [code] = await ended;
    expect(code, said()).toBe(7);
    expect(said()).toContain("with aws-1\n");
    expect(said()).not.toContain("eyJ"); // Every signed token begins so.
    const { items } = await operator.audit({ limit: 20 });
    expect(items.map(({ by }) => by)).toContain(system.caller);
    expect(await operator.everyLease()).toEqual([]);
  });

  test("gives the lease back when the job is cancelled", async () => {
    const { child, ended, said } = await start(system, "echo working; exec sleep 60");
    while (!said().includes("working\n")) {
      if (child.exitCode !== null) throw new Error(said());
      await pause(30);
    }
    const [lease] = await operator.everyLease();
    expect(lease?.holder).toBe(system.holder);
    const { signal, to } = system.cancel;
    process.kill(to === "group" ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
    await ended;
    expect(await operator.everyLease(), said()).toEqual([]);
  });
});

test("every recipe of the guide exists, and every file has a recipe that is run", () => {
  const guide = read("docs/guides/ci-systems.md");
  const linked = [...guide.matchAll(/\(\.\.\/\.\.\/examples\/ci\/([\w.-]+)\)/g)].map(
    ([, name]) => name,
  );
  expect(linked).toHaveLength(Object.keys(systems).length);
  for (const name of linked) expect(recipe(name ?? "")).toContain("berth.sh run");
});

test("pods get a token of their own for Berth", () => {
  for (const spec of [prowJob.spec, parse(recipe("tekton.yaml")).spec]) {
    const [volume] = spec.volumes;
    const [{ serviceAccountToken }] = volume.projected.sources;
    const [container] = spec.containers ?? spec.steps;
    const mount = container.volumeMounts.find(({ name }: { name: string }) => name === volume.name);
    const variable = container.env.find(
      ({ name }: { name: string }) => name === "BERTH_TOKEN_FILE",
    );
    expect(variable.value).toBe(`${mount.mountPath}/${serviceAccountToken.path}`);
    expect(serviceAccountToken.audience).toBe(audience);
  }
});

describe("the files", () => {
  const script = fileURLToPath(new URL("../scripts/python-tools", import.meta.url));
  const isRequired = process.env["BERTH_PYTHON_TESTS"] === "required";
  const tools = spawnSync(script, isRequired ? [] : ["--find"], { encoding: "utf8" });

  // check-jsonschema brings the schemas that these systems publish.
  test.for([
    ["examples/ci/github-actions.yaml", "vendor.github-workflows"],
    ["action/action.yml", "vendor.github-actions"],
    ["examples/ci/gitlab-ci.yml", "vendor.gitlab-ci"],
    ["examples/ci/buildkite.yml", "vendor.buildkite"],
  ])("%s fits the schema %s", ([file = "", schema = ""], { skip }) => {
    if (tools.status !== 0) skip("check-jsonschema is not installed: run scripts/python-tools");
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const args = ["--builtin-schema", schema, file];
    const checked = spawnSync(`${tools.stdout.trim()}/check-jsonschema`, args, {
      cwd,
      encoding: "utf8",
    });
    expect(checked.stdout + checked.stderr).toContain("ok -- validation done");
  });
});
