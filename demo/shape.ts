/**
 * The pools of the demo, like those of a large CI system: 240 pools with about 9,000 resources, a
 * few large and most small.
 */
import { Random } from "../src/insight/forecast/random.ts";

export interface DemoPool {
  readonly name: string;
  readonly kind: Kind;
  readonly size: number;
  /** The share of its resources that are held, on average over a day. */
  readonly load: number;
}

/** The typical hold in minutes, in the demo's own time. */
export const kinds = {
  account: { holdMinutes: 80, spread: 0.7 },
  quota: { holdMinutes: 50, spread: 0.6 },
  cluster: { holdMinutes: 150, spread: 0.5 },
  slot: { holdMinutes: 25, spread: 0.25 },
  host: { holdMinutes: 100, spread: 0.8 },
  segment: { holdMinutes: 45, spread: 0.6 },
} as const;

export type Kind = keyof typeof kinds;

/** Each cloud with its kinds of scarce resources. */
const clouds: Readonly<Record<string, readonly Kind[]>> = {
  aws: ["account", "quota", "slot"],
  azure: ["account", "quota", "slot"],
  gcp: ["quota", "account"],
  ibmcloud: ["quota"],
  openstack: ["quota", "segment"],
  vsphere: ["segment", "cluster"],
  nutanix: ["segment"],
  metal: ["host"],
  powervs: ["quota", "host"],
  oci: ["account", "quota"],
  hetzner: ["host", "quota"],
  kubevirt: ["cluster", "quota"],
};

const teams = [
  ...["core", "network", "storage", "install", "upgrade", "perf", "edge"],
  ...["windows", "arm64", "fips", "mesh", "logging", "tracing", "virt"],
  ...["registry", "security", "backup", "release", "nightly", "sandbox"],
];

const resourcesWanted = 9_000;

export function demoPools(seed = 7): DemoPool[] {
  const random = new Random(seed);
  const drafts = Object.entries(clouds).flatMap(([cloud, scarce]) =>
    teams.map((team) => {
      const kind = random.pick(scarce);
      // Few large, many small: the sizes have a log-normal distribution.
      const weight = Math.exp(Math.min(2.6, 1.2 * bell(random)));
      return { name: `${cloud}-${team}-${kind}`, kind, weight, load: loadOf(random) };
    }),
  );
  const scale = resourcesWanted / drafts.reduce((sum, { weight }) => sum + weight, 0);
  return drafts.map(({ name, kind, weight, load }) => {
    const size = Math.max(1, Math.round(weight * scale));
    return { name, kind, size, load: Math.min(load, loadMax(size)) };
  });
}

/** A single resource that is always busy would never be free, and a thousand are never all busy. */
function loadMax(size: number): number {
  if (size < 4) return 0.45;
  return size > 60 ? 0.62 : 0.8;
}

/** Most pools have free resources, some are tight, a few have long queues. */
function loadOf(random: Random): number {
  const fate = random.next();
  if (fate < 0.65) return 0.1 + 0.3 * random.next();
  return fate < 0.88 ? 0.4 + 0.2 * random.next() : 0.7 + 0.1 * random.next();
}

/** A standard normal number (Box and Muller). */
export function bell(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}

/** As a configuration file. Durations are those of a day that passes in twenty minutes. */
export function demoConfig(pools: readonly DemoPool[]): string {
  const lines = pools.map(
    ({ name, kind, size }) => `  ${name}: { count: ${size}, ${policies[kind]} }`,
  );
  const total = pools.reduce((sum, { size }) => sum + size, 0);
  return `# What npm run demo lends: ${pools.length} pools, ${total} resources. Made by demo/print-pools.ts.
# Durations are those of a day that passes in twenty minutes: 1s stands for 72.
pools:
${lines.join("\n")}
`;
}

const policies: Readonly<Record<Kind, string>> = {
  account: "ttl: 2m, cooldown: 4s, lockDelay: 5s",
  quota: "ttl: 2m, lockDelay: 2s",
  cluster: "ttl: 2m, lifetime: 8m, cooldown: 2s, lockDelay: 5s",
  slot: "ttl: 2m, hold: 28s, lockDelay: 0s",
  host: "ttl: 2m, cooldown: 8s, lockDelay: 8s",
  segment: "ttl: 2m, lockDelay: 2s",
};
