/** A server with pools of clusters, and a worker that the test drives. */

import type { AuthSpec } from "../../auth/auth-spec.ts";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { defaultPhaseLimits } from "../../core/model/cluster.ts";
import type { PoolSpec } from "../../core/model/policy.ts";
import { type Answer, asLease, type Call, type TestSite, testSite } from "../test-site.suite.ts";
import type { TemplateInfo } from "./template-info.ts";

export const ocpAws: TemplateInfo = {
  name: "ocp-aws",
  driver: "command",
  revision: "r1",
  parameters: {
    version: { enum: ["4.19", "4.20"], default: "4.20" },
    workers: { type: "integer", minimum: 1, maximum: 6 },
    fips: { type: "boolean" },
  },
  pinned: ["region", "baseDomain"],
  ownCredentials: null,
  cost: 10,
  hibernates: true,
  limits: defaultPhaseLimits,
};

export const byoTemplate: TemplateInfo = { ...ocpAws, name: "byo-aws", ownCredentials: "aws" };

export const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: admin, user: {token: s3cret-cluster-token-17}}]
`;
export const bundle = { kubeconfig, username: "kubeadmin", password: "pAssw0rd-of-kubeadmin" };
/** What must never be seen by anybody but the holder. */
export const secrets = ["s3cret-cluster-token-17", "pAssw0rd-of-kubeadmin"];

export interface ClusterSite extends TestSite {
  /** Everything that was answered so far to calls through `look`. */
  readonly looked: Answer[];
  look(line: string, call?: Call): Promise<Answer>;
  /** A worker takes a cluster of the pool in this state. */
  take(state: string, pool?: string): Promise<Work | undefined>;
  /** Makes one cluster, with access. Returns its name. */
  make(pool?: string): Promise<string>;
}

export interface Work {
  readonly id: string;
  readonly token: string;
  readonly claim: string;
  readonly resource: string;
}

export async function clusterSite(
  pools: readonly PoolSpec[] = [clusterPool("ocp")],
  auth?: AuthSpec,
  workerToken?: string,
): Promise<ClusterSite> {
  const site = await testSite(pools, {}, undefined, auth);
  site.templates.push(ocpAws, byoTemplate);
  const looked: Answer[] = [];
  const own = workerToken === undefined ? undefined : { token: workerToken };
  const take = async (state: string, pool = "ocp"): Promise<Work | undefined> => {
    const items = [{ pool, state, into: state }];
    const body = { holder: "provisioner", items, nowOnly: true };
    const answer = await site.call("POST /v1/leases", { body, ...own });
    if (answer.status !== 201) return undefined;
    const { id, token, claims } = asLease(answer);
    const [claim] = claims;
    return { id, token, claim: claim?.id ?? "", resource: claim?.resource ?? "" };
  };
  return Object.assign(site, {
    looked,
    take,
    async look(line: string, call?: Call) {
      const answer = await site.call(line, call);
      looked.push(answer);
      return answer;
    },
    async make(pool?: string) {
      const work = await take("creating", pool);
      if (work === undefined) throw new Error("Cannot make a cluster: none is planned");
      const { id, claim, token, resource } = work;
      const put = `PUT /v1/leases/${id}/claims/${claim}/access`;
      const stored = await site.call(put, { body: bundle, token });
      if (stored.status !== 204) throw new Error(`Cannot store the access: ${stored.text}`);
      const freed = await site.call(`DELETE /v1/leases/${id}?state=free`, { token });
      if (freed.status !== 204) throw new Error(`Cannot finish: ${freed.text}`);
      return resource;
    },
  });
}
