/** The teams of the demo. Each has a token of its own, which lives as long as the demo. */
import { randomBytes } from "node:crypto";
import { tokenHash } from "../src/auth/static-tokens.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";

/** The clouds whose plain pools a team uses. All teams use the pools of `showcase.ts`. */
const teams: Readonly<Record<string, readonly string[]>> = {
  payments: ["aws", "oci"],
  web: ["azure", "hetzner"],
  platform: ["gcp", "openstack"],
  release: ["vsphere", "nutanix"],
  data: ["ibmcloud", "powervs"],
  edge: ["metal", "kubevirt"],
};

export const spaceNames: readonly string[] = Object.keys(teams);

/** Each request belongs to the team of its cloud or, in a pool of all teams, to one by its holder. */
export function withSpaces(demand: readonly Demand[]): Demand[] {
  return demand.map((one) => {
    const [cloud = ""] = one.items[0]?.pool.split("-") ?? [];
    const space = spaceNames.find((name) => teams[name]?.includes(cloud)) ?? anyOf(one.holder);
    return { ...one, space };
  });
}

/** Payments and web ask most. */
function anyOf(holder: string): string {
  const number = Number(/\d+$/.exec(holder)?.[0] ?? 0);
  return ["payments", "web", "payments", "platform", "web", "release"][number % 6] ?? "web";
}

export class DemoTokens {
  readonly #tokens = new Map(spaceNames.map((name) => [name, randomBytes(24).toString("hex")]));

  of(space: string): string {
    return this.#tokens.get(space) ?? "";
  }

  /** `auth` and `spaces` of the configuration. Who looks at the page may do everything. */
  get config() {
    const tokens = spaceNames.map((name) => {
      return { name: `ci-${name}`, sha256: tokenHash(this.of(name)), space: name, role: "holder" };
    });
    return {
      auth: { tokens, anonymous: { space: "ops", role: "operator" } },
      spaces: {
        payments: { weight: 2, quota: { "test-license": 5 } },
        web: { weight: 1, quota: { "test-license": 4 } },
        platform: { weight: 1, quota: { "lab-vsphere": { vcpus: 160 } } },
        release: { weight: 1, waiting: 500 },
        data: {},
        edge: {},
        ops: {},
      },
    };
  }
}
