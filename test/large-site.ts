/** A site of the size that a large organisation has: 240 pools, 10,000 resources, traffic on demand. */
import type { BerthClient } from "../src/client/berth-client.ts";

const providers = ["aws", "azure", "gcp", "ibmcloud", "openstack", "vsphere", "equinix", "libvirt"];
const kinds = ["account", "quota-slice", "install-slot", "dns-zone", "arm-quota", "gpu-quota"];
const tiers = ["ci", "dev", "nightly", "perf", "release"];

export interface LargePool {
  readonly count: number;
  readonly cooldown?: string;
  readonly hold?: string;
  readonly lifetime?: string;
}

/** One pool has 3,000, as a quota pool may; the others share the rest, from 1 to some hundred each. */
export function largePools(resources = 10_000): Record<string, LargePool> {
  const names = tiers.flatMap((tier) =>
    providers.flatMap((provider) => kinds.map((kind) => `${provider}-${tier}-${kind}`)),
  );
  const shares = names.map((_, index) => 1 + ((index * 37) % 100) ** 2 / 100);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const rest = resources - 3_000;
  const pools: Record<string, LargePool> = {};
  let given = 0;
  for (const [index, name] of names.entries()) {
    const last = index === names.length - 1;
    const share = Math.max(1, Math.floor(((shares[index] ?? 1) / whole) * (rest - names.length)));
    const count = name === "aws-ci-quota-slice" ? 3_000 : last ? resources - given : share;
    pools[name] = { count, ...policyOf(name) };
    given += count;
  }
  return pools;
}

function policyOf(name: string): Omit<LargePool, "count"> {
  if (name.endsWith("install-slot")) return { hold: "20m" };
  if (name.endsWith("account")) return { lifetime: "4h", cooldown: "30s" };
  return {};
}

const jobs = ["e2e", "upgrade", "install", "conformance", "serial", "perf-scale", "nightly"];
const repos = ["installer", "console", "network", "storage", "release-4.20", "operator", "runtime"];

/** A sequence that is the same in every run. */
export function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export function holderName(roll: () => number): string {
  const pick = (from: readonly string[]) => from[Math.floor(roll() * from.length)] ?? "";
  return `${pick(jobs)}-${pick(repos)}/${1_000 + Math.floor(roll() * 9_000)}`;
}

/** Fills each pool to a share of its own, a few of them beyond what they have. */
export async function fill(
  client: BerthClient,
  pools: Readonly<Record<string, LargePool>>,
  seed = 7,
): Promise<{ id: string; token: string }[]> {
  const roll = dice(seed);
  const held: { id: string; token: string }[] = [];
  for (const [pool, { count }] of Object.entries(pools)) {
    const share = roll() < 0.08 ? 1 + roll() * 0.4 : roll() ** 1.5;
    const asks = Math.min(400, Math.round(count * share));
    const asked = Array.from({ length: asks }, async () => {
      const body = { holder: holderName(roll), items: [{ pool }], ttl: "1h" };
      const answer = await client.ask(body);
      const { id, token } = answer.granted ? answer.lease : answer.request;
      if (token !== undefined) held.push({ id, token });
    });
    await Promise.all(asked);
  }
  return held;
}
