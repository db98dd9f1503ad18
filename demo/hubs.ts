/** Three hubs of the demo: two make clusters, one is cordoned. All have clusters of others too. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DemoHub, type HubOptions } from "./hub.ts";

/** The pool whose clusters are made on hubs. */
export const hostedPool = "hypershift";

interface HubPlan extends HubOptions {
  readonly limit: number;
  readonly region: string;
  readonly state?: "cordoned";
}

const hubs: readonly HubPlan[] = [
  {
    ...{ name: "hub-east", versions: ["4.19", "4.20"], limit: 5, region: "us-east-1" },
    others: ["perf-baseline ann 70", "upgrade-rehearsal perf-team 5"],
  },
  {
    ...{ name: "hub-west", versions: ["4.20"], limit: 3, region: "us-west-2" },
    others: ["bug-31337 bob 30"],
  },
  {
    ...{ name: "hub-lab", versions: ["4.19", "4.20"], limit: 4, region: "lab", state: "cordoned" },
    others: ["lab-demo sales 200", "night-run qe 9"],
  },
];

const manifest = fileURLToPath(new URL("hosted-cluster.yaml", import.meta.url));

export class DemoHubs implements AsyncDisposable {
  readonly #running: readonly DemoHub[];
  /** `hubs`, `templates` and `pools` of the configuration. */
  readonly config: { readonly hubs: object; readonly templates: object; readonly pools: object };

  private constructor(running: readonly DemoHub[], folder: string) {
    this.#running = running;
    mkdirSync(folder);
    const places = hubs.map(({ name, limit, region, state }, at) => {
      const kubeconfig = join(folder, `${name}.kubeconfig`);
      writeFileSync(kubeconfig, running[at]?.kubeconfig ?? "");
      return [
        name,
        { kubeconfig, limit, labels: { region }, foreign: {}, ...(state && { state }) },
      ];
    });
    const hosted = {
      ...{ driver: "hypershift", hubs: {}, namespace: "clusters", manifest, cost: 4 },
      parameters: { version: { enum: ["4.19", "4.20"], default: "4.20" } },
      limits: { create: "5m", destroy: "2m" },
    };
    const pool = { template: "hosted", size: 2, max: 8, concurrent: 3, lifetime: "1h" };
    this.config = {
      hubs: Object.fromEntries(places),
      templates: { hosted },
      pools: { [hostedPool]: pool },
    };
  }

  static async start(folder: string): Promise<DemoHubs> {
    return new DemoHubs(await Promise.all(hubs.map((each) => DemoHub.start(each))), folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((each) => each[Symbol.asyncDispose]()));
  }
}
