/** The recipes of the guide, with tokens that have the claims of the real systems. */
import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Problem } from "../../api/problem.ts";
import { formatProblem } from "../../config/document.ts";
import { parseConfig } from "../../config/parse.ts";
import { Authenticator } from "../authenticator.ts";
import type { IssuerSpec } from "../issuer-spec.ts";
import { audience, makeKey, type SigningKey, signWith } from "./test-issuer.suite.ts";

const guide = readFileSync(new URL("../../../docs/guides/security.md", import.meta.url), "utf8");

/** The issuers of the configurations below a heading, in the order of the guide. */
function recipes(heading: string): IssuerSpec[] {
  const [, section = ""] = guide.split(new RegExp(`^#+ ${heading}$`, "m"));
  const [text = ""] = section.split(/^#+ /m);
  const blocks = [...text.matchAll(/^```yaml\n(auth:.*?)^```$/gms)].map(([, block = ""]) => block);
  return blocks.flatMap((block) => {
    const config = parseConfig(`pools: { a: { count: 1 } }\n${block}`, heading);
    if (!config.ok) throw new Error(config.problems.map(formatProblem).join("\n"));
    expect(config.warnings).toEqual([]);
    return config.auth?.issuers ?? [];
  });
}

const nowMs = 1_700_000_000_000;
let key: SigningKey;
let path: string;
beforeAll(async () => {
  key = await makeKey("ci");
  path = join(await mkdtemp(join(tmpdir(), "berth-recipes-")), "keys.json");
  await writeFile(path, JSON.stringify({ keys: [key.publicJwk] }));
});

/** Who the recipe takes the token for, with the keys of this test. */
async function callerOf(recipe: IssuerSpec | undefined, claims: object): Promise<string | number> {
  if (recipe === undefined) throw new Error("The guide has no such recipe");
  const issuers = [{ ...recipe, proof: { type: "keys-file", path } as const }];
  const auth = new Authenticator({ tokens: [], issuers }, () => nowMs);
  const token = await signWith(key, nowMs, { iss: recipe.issuer, ...claims });
  try {
    const { name, space, role } = await auth.authenticate(`Bearer ${token}`);
    return `${name}, ${role} in ${space}`;
  } catch (error) {
    if (error instanceof Problem) return error.status;
    throw error;
  }
}

const github = {
  sub: "repo:acme/shop:ref:refs/heads/main",
  ref: "refs/heads/main",
  sha: "1f9d2b7c6ad0f3a1e6a4a4f7a3d0f5b8c9e0d1a2",
  repository: "acme/shop",
  repository_owner: "acme",
  repository_owner_id: "65",
  run_id: "9283745",
  run_number: "10",
  run_attempt: "2",
  repository_visibility: "private",
  repository_id: "74",
  actor_id: "12",
  actor: "octocat",
  workflow: "e2e",
  head_ref: "",
  base_ref: "",
  event_name: "push",
  ref_type: "branch",
  ref_protected: "true",
  job_workflow_ref: "acme/shop/.github/workflows/e2e.yml@refs/heads/main",
  runner_environment: "github-hosted",
};

describe("the recipe for GitHub Actions", () => {
  const recipe = () => recipes("GitHub Actions")[0];
  const rows: Record<string, [object, string | number]> = {
    "a push": [{}, "acme/shop, holder in acme"],
    "a deployment": [
      { sub: "repo:acme/shop:environment:production", environment: "production" },
      "acme/shop, holder in production",
    ],
    "a pull request": [
      { ref: "refs/pull/7/merge", sub: "repo:acme/shop:pull_request", event_name: "pull_request" },
      "acme/shop, holder in acme",
    ],
    "a repository of another owner": [
      { repository: "evil/shop", repository_owner: "evil", sub: "repo:evil/shop" },
      403,
    ],
    "an owner whose name only begins the same": [
      { repository: "acme-evil/shop", repository_owner: "acme-evil" },
      403,
    ],
    "a token for another service": [{ aud: "sts.amazonaws.com" }, 401],
  };

  test.each(Object.entries(rows))("knows %s", async (_, [claims, caller]) => {
    expect(await callerOf(recipe(), { ...github, ...claims })).toBe(caller);
  });

  test("is what the first example of the guide extends", async () => {
    const [example] = recipes("Tokens of issuers");
    expect(await callerOf(example, github)).toBe(`${github.sub}, worker in acme`);
    const branch = { ...github, ref: "refs/heads/feature" };
    expect(await callerOf(example, branch)).toBe("acme/shop, holder in acme");
  });
});

const gitlab = {
  sub: "project_path:acme/payments/shop:ref_type:branch:ref:main",
  namespace_id: "72",
  namespace_path: "acme/payments",
  project_id: "20",
  project_path: "acme/payments/shop",
  user_id: "1",
  user_login: "sample",
  user_email: "sample@example.org",
  pipeline_id: "574",
  pipeline_source: "push",
  job_id: "302",
  ref: "main",
  ref_type: "branch",
  ref_protected: "true",
  runner_id: 1,
  runner_environment: "self-hosted",
  project_visibility: "private",
};

describe("the recipe for GitLab", () => {
  const recipe = () => recipes("GitLab")[0];
  const rows: Record<string, [object, string | number]> = {
    "a protected branch": [{}, "acme/payments/shop, worker in payments"],
    "another branch": [{ ref_protected: "false" }, "acme/payments/shop, holder in acme"],
    "another group": [
      { namespace_path: "evil", project_path: "evil/shop", sub: "project_path:evil/shop" },
      403,
    ],
  };

  test.each(Object.entries(rows))("knows %s", async (_, [claims, caller]) => {
    expect(await callerOf(recipe(), { ...gitlab, ...claims })).toBe(caller);
  });
});

const pod = {
  aud: [audience],
  sub: "system:serviceaccount:ci-payments:ci-runner",
  "kubernetes.io": {
    namespace: "ci-payments",
    node: { name: "node-1", uid: "4e5f" },
    pod: { name: "e2e-x7k2p", uid: "7f3a" },
    serviceaccount: { name: "ci-runner", uid: "a1b2" },
    warnafter: nowMs / 1_000 + 200,
  },
};

describe("the recipes for Kubernetes", () => {
  test("know a pod by its namespace and account", async () => {
    const [keys, review] = recipes("Kubernetes");
    const known = "system:serviceaccount:ci-payments:ci-runner, holder in ci-payments";
    expect(keys?.proof).toEqual({ type: "keys-file", path: "cluster-keys.json" });
    expect(await callerOf(keys, pod)).toBe(known);
    expect(review?.proof).toEqual({ type: "token-review" });
    expect(await callerOf(review, pod)).toBe(known);
  });

  test("refuse another namespace, and a token for the API server", async () => {
    const [keys] = recipes("Kubernetes");
    const other = { ...pod, "kubernetes.io": { ...pod["kubernetes.io"], namespace: "default" } };
    expect(await callerOf(keys, other)).toBe(403);
    expect(await callerOf(keys, { ...pod, aud: ["https://kubernetes.default.svc"] })).toBe(401);
  });
});
