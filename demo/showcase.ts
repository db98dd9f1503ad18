/**
 * A few pools that show what the 240 plain ones do not: amounts, paces, limits, admission, cleaning,
 * clusters, and spaces with quotas.
 */
import { fileURLToPath } from "node:url";
import { Random } from "../src/insight/forecast/random.ts";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { type DayOptions, demandBetween } from "./demand.ts";
import { hostedPool } from "./hubs.ts";
import type { DemoPool } from "./shape.ts";

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The name of the pool whose holders report that the provider throttles them. */
export const throttledPool = "install-adaptive";
export const clusterPool = "openshift";
export const sharedPool = "lab-vsphere";
/** The janitor never gets this one clean. */
const brokenAccount = "sandbox-6";

/** `size` and `load` shape the demand: so many are wanted at one time, on average. */
const pools: readonly DemoPool[] = [
  { name: sharedPool, kind: "cluster", size: 22, load: 0.8 },
  { name: "install-paced", kind: "slot", size: 6, load: 0.8 },
  { name: throttledPool, kind: "slot", size: 12, load: 0.45 },
  { name: "region-east", kind: "quota", size: 8, load: 0.75 },
  { name: "region-west", kind: "quota", size: 8, load: 0.7 },
  { name: "hosted-control-plane", kind: "cluster", size: 6, load: 0.6 },
  { name: "sandbox-account", kind: "quota", size: 6, load: 0.6 },
  { name: "test-license", kind: "account", size: 10, load: 0.9 },
  { name: clusterPool, kind: "cluster", size: 3, load: 0.5 },
  { name: hostedPool, kind: "cluster", size: 5, load: 0.6 },
];

export const showcasePools: ReadonlySet<string> = new Set(pools.map(({ name }) => name));

/** Small, usual and large machines. A large one fits only on a host that is nearly empty. */
const amounts = [
  { vcpus: 8, memory: 32 },
  { vcpus: 8, memory: 64 },
  { vcpus: 16, memory: 64 },
  { vcpus: 16, memory: 128 },
  { vcpus: 24, memory: 96 },
  { vcpus: 64, memory: 256 },
] as const;

/** What these pools ask for between two times, beside the plain ones. */
export function showcaseDemand(from: number, to: number, options: DayOptions): Demand[] {
  return demandBetween(pools, from, to, options).map((demand, index) => {
    const random = new Random(options.seed + index + Math.floor(from / 1_000));
    const items = demand.items.map((item) => {
      return item.pool === sharedPool ? { ...item, amount: random.pick(amounts) } : item;
    });
    return { ...demand, id: `s${demand.id}`, items };
  });
}

const host = (vcenter: string) => ({
  capacity: { vcpus: 96, memory: 512 },
  labels: { vcenter },
});

export interface ShowcaseOptions {
  /** Of the cluster that the admission check asks. */
  readonly kubeconfig: string;
  /** Where the driver of the clusters keeps them. */
  readonly clusters: string;
}

/** `pools` and `templates` of the configuration. */
export function showcaseConfig({ kubeconfig, clusters }: ShowcaseOptions) {
  const check = { cpu: 4000, memory: 16000, clusterNamespace: "clusters", kubeconfig };
  const janitor = {
    command: ["sh", script("clean-account.sh")],
    env: { BROKEN: brokenAccount },
    ...{ timeout: "20s", retries: 1, backoff: "2s" },
  };
  return {
    templates: {
      openshift: {
        driver: "command",
        command: ["sh", script("cluster-driver.sh")],
        env: { CLUSTERS: clusters },
        ...{ hibernates: true, cost: 12 },
        parameters: { version: { enum: ["4.19", "4.20"], default: "4.20" } },
        limits: { create: "5m", resume: "2m", stop: "2m", destroy: "2m" },
      },
    },
    pools: {
      [sharedPool]: {
        ...{ place: "least-used", patience: "30s", ttl: "2m" },
        members: {
          "esx-1": host("vc-east"),
          "esx-2": host("vc-east"),
          "esx-3": host("vc-west"),
          "esx-4": host("vc-west"),
        },
      },
      // A team that holds much elsewhere also gets a start every minute.
      "install-paced": {
        ...{ count: 12, ttl: "2m", hold: "28s", patience: "1m" },
        pace: { every: "4s", burst: 2 },
      },
      [throttledPool]: {
        ...{ count: 20, ttl: "2m", hold: "28s", patience: "1m", pace: { every: "2s" } },
        adaptive: { mode: "auto", min: 4, max: 30, cutEvery: "5s", raiseAfter: "10s", step: 4 },
      },
      "cloud-api": { limit: 11 },
      "region-east": { count: 8, ttl: "2m", lockDelay: "2s", parent: "cloud-api" },
      "region-west": { count: 8, ttl: "2m", lockDelay: "2s", parent: "cloud-api" },
      "hosted-control-plane": {
        ...{ count: 6, ttl: "2m", lockDelay: "2s" },
        admission: { checkCapacity: check, every: "5s" },
      },
      "sandbox-account": {
        members: ["sandbox-1", "sandbox-2", "sandbox-3", "sandbox-4", "sandbox-5", brokenAccount],
        ...{ ttl: "2m", lockDelay: "2s", onRelease: "dirty", janitor },
      },
      "test-license": { count: 10, ttl: "2m", lockDelay: "2s", cost: 5 },
      [clusterPool]: {
        ...{ template: "openshift", size: 3, running: 1, max: 6, concurrent: 2, lifetime: "1h" },
      },
    },
  };
}
