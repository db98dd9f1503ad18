/** Service account tokens of a real API server: with its keys, and by asking it. */
import { execFileSync } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Problem } from "../src/api/problem.ts";
import { Authenticator } from "../src/auth/authenticator.ts";
import type { ProofSpec, RuleSpec } from "../src/auth/issuer-spec.ts";
import { issuerLimits } from "../src/auth/issuers/limits.ts";
import { noKube } from "./kube-binaries.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { accountConfig, apply } from "./slots-world.ts";

const cluster = sharedCluster();
const audience = "https://berth.example.org";
const issuer = "https://kubernetes.default.svc";

/** As the guide has it. */
const rule: RuleSpec = {
  claims: { "kubernetes.io/serviceaccount/name": "ci-*" },
  space: "{kubernetes.io/namespace}",
  role: "holder",
};

class World {
  /** How far the clock of the server is ahead of the cluster's. */
  aheadMs = 0;
  readonly namespace: string;
  readonly auth: Authenticator;
  readonly reports: string[] = [];
  #tokens = 0;

  constructor(namespace: string, proof: ProofSpec) {
    this.namespace = namespace;
    const issuers = [{ issuer, audience, proof, rules: [rule] }];
    this.auth = new Authenticator({ tokens: [], issuers }, () => Date.now() + this.aheadMs, {
      up: () => this.reports.push("up"),
      down: () => this.reports.push("down"),
    });
  }

  /** The token that a pod of the account gets as a projected volume. */
  async token(account: string, audiences = [audience]): Promise<string> {
    const path = ["api", "v1", "namespaces", this.namespace, "serviceaccounts", account, "token"];
    // Older API servers give the same token twice in a second, if all else is equal.
    const spec = { audiences, expirationSeconds: 3_600 + ++this.#tokens };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const api = await cluster.admin();
    const made = await api.call<{ status: { token: string } }>({ method: "POST", path, body });
    return made.status.token;
  }

  async deleteAccount(name: string): Promise<void> {
    const path = ["api", "v1", "namespaces", this.namespace, "serviceaccounts", name];
    await (await cluster.admin()).call({ method: "DELETE", path });
  }

  /** Who the server takes the caller for, or the status of the refusal. */
  async call(token: string): Promise<string | number> {
    try {
      const { name, space, role } = await this.auth.authenticate(`Bearer ${token}`);
      return `${name} ${role} in ${space}`;
    } catch (error) {
      if (error instanceof Problem) return error.status;
      throw error;
    }
  }
}

async function namespaceWith(...accounts: readonly string[]): Promise<string> {
  const namespace = await cluster.namespace();
  const path = ["api", "v1", "namespaces", namespace, "serviceaccounts"];
  await cluster.create(path, ...accounts.map((name) => ({ metadata: { name } })));
  return namespace;
}

/** As the guide has it. */
function clusterKeys(): string {
  const args = ["--kubeconfig", cluster.adminConfig, "get", "--raw", "/openid/v1/jwks"];
  return execFileSync(join(cluster.binaries, "kubectl"), args, { encoding: "utf8" });
}

/** The account of the server, which may review tokens and nothing else. */
async function reviewer(namespace: string): Promise<string> {
  await apply(cluster, [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: `berth-reviews-${namespace}` },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "system:auth-delegator",
      },
      subjects: [{ kind: "ServiceAccount", name: "berth", namespace }],
    },
  ]);
  return accountConfig(cluster, namespace, "berth");
}

describe.skipIf(noKube)("service account tokens", () => {
  test("are verified with the cluster's keys from a file", async () => {
    const namespace = await namespaceWith("ci-runner", "other");
    const path = join(await mkdtemp(join(tmpdir(), "berth-kube-keys-")), "keys.json");
    await writeFile(path, clusterKeys());
    const world = new World(namespace, { type: "keys-file", path });
    const name = `system:serviceaccount:${namespace}:ci-runner`;
    expect(await world.call(await world.token("ci-runner"))).toBe(`${name} holder in ${namespace}`);
    expect(await world.call(await world.token("other"))).toBe(403);
    expect(await world.call(await world.token("ci-runner", ["https://elsewhere"]))).toBe(401);
    expect(await world.call(await world.token("ci-runner", []))).toBe(401);
  });

  test("are verified with the cluster's keys from its address", async () => {
    const namespace = await namespaceWith("ci-runner");
    await apply(cluster, [
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: `berth-keys-${namespace}` },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "system:service-account-issuer-discovery",
        },
        subjects: [
          {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "Group",
            name: "system:unauthenticated",
          },
        ],
      },
    ]);
    await using proxy = await KubeProxy.start(cluster);
    const url = `${proxy.url}/openid/v1/jwks`;
    const world = new World(namespace, { type: "keys-url", url });
    const token = await world.token("ci-runner");
    expect(await world.call(token)).toContain("holder in");
    proxy.away = true;
    world.aheadMs = issuerLimits.refreshMs + 1;
    expect(await world.call(await world.token("ci-runner"))).toContain("holder in");
  });

  test("are reviewed by the API server, once in a minute", async () => {
    const namespace = await namespaceWith("ci-runner", "other", "berth");
    await using proxy = await KubeProxy.start(cluster);
    const kubeconfig = await cluster.configVia(proxy.url, await reviewer(namespace));
    const world = new World(namespace, { type: "token-review", kubeconfig });
    const name = `system:serviceaccount:${namespace}:ci-runner`;
    const token = await world.token("ci-runner");
    const unseen = await world.token("ci-runner");
    expect(await world.call(token)).toBe(`${name} holder in ${namespace}`);
    expect(await world.call(token)).toBe(`${name} holder in ${namespace}`);
    expect(proxy.seen).toHaveLength(1);
    world.aheadMs = issuerLimits.reviewMs;
    expect(await world.call(token)).toBe(`${name} holder in ${namespace}`);
    expect(proxy.seen).toHaveLength(2);
    expect(await world.call(await world.token("other"))).toBe(403);
    expect(await world.call(await world.token("ci-runner", ["https://elsewhere"]))).toBe(401);
    const [head, payload] = token.split(".");
    expect(await world.call(`${head}.${payload}.c2ln`)).toBe(401);

    await world.deleteAccount("ci-runner");
    // The API server learns of it a moment later.
    while ((await world.call(unseen)) !== 401) world.aheadMs += issuerLimits.reviewMs;
    // Not because the token has expired in the meantime.
    expect(world.aheadMs).toBeLessThan(3_000_000);
  });

  test("get 503 while the API server is down, and what it said is used for its minute", async () => {
    const namespace = await namespaceWith("ci-runner", "berth");
    await using proxy = await KubeProxy.start(cluster);
    const kubeconfig = await cluster.configVia(proxy.url, await reviewer(namespace));
    const world = new World(namespace, { type: "token-review", kubeconfig });
    const [token, other] = [await world.token("ci-runner"), await world.token("ci-runner")];
    expect(await world.call(token)).toContain("holder in");
    proxy.away = true;
    expect(await world.call(token)).toContain("holder in");
    expect(await world.call(other)).toBe(503);
    world.aheadMs = issuerLimits.reviewMs;
    expect(await world.call(token)).toBe(503);
    proxy.away = false;
    expect(await world.call(token)).toContain("holder in");
    expect(world.reports).toEqual(["up", "down", "up"]);
  });

  test("get 503, and not 401, if the server itself may not ask", async () => {
    const namespace = await namespaceWith("ci-runner", "berth");
    const kubeconfig = await accountConfig(cluster, namespace, "berth");
    const world = new World(namespace, { type: "token-review", kubeconfig });
    expect(await world.call(await world.token("ci-runner"))).toBe(503);
    expect(world.reports).toEqual(["down"]);
  });
});
