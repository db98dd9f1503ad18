/** All that the demo lends, and what is around the server: a configuration, teams, a cluster. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Demand } from "../src/insight/what-if/demand.ts";
import { DemoClusters } from "./clusters.ts";
import { type DayOptions, demandBetween } from "./demand.ts";
import { DemoHubs } from "./hubs.ts";
import { ManagementCluster } from "./management-cluster.ts";
import { type DemoPool, demoPools } from "./shape.ts";
import { showcaseConfig, showcaseDemand } from "./showcase.ts";
import { DemoTokens, withSpaces } from "./spaces.ts";

export class DemoWorld implements AsyncDisposable {
  readonly pools: readonly DemoPool[] = demoPools();
  readonly tokens = new DemoTokens();
  readonly clusters: DemoClusters;
  readonly configFile: string;
  /** Without what no simulated past can have: checks of a cluster, and clusters. */
  readonly pastConfig: string;
  readonly #management: ManagementCluster;
  readonly #hubs: DemoHubs;
  readonly #used: readonly DemoPool[];

  private constructor(
    folder: string,
    around: { readonly management: ManagementCluster; readonly hubs: DemoHubs },
    used: number,
  ) {
    const { management, hubs } = around;
    this.#management = management;
    this.#hubs = hubs;
    // From all over the list, because it has one cloud after the other.
    const share = used / this.pools.length;
    this.#used = this.pools.filter(
      (_, at) => Math.floor((at + 1) * share) > Math.floor(at * share),
    );
    this.clusters = new DemoClusters(folder);
    const kubeconfig = join(folder, "management.kubeconfig");
    writeFileSync(kubeconfig, management.kubeconfig);
    const made = join(folder, "clusters");
    leaveOrphan(made);
    const { templates, pools } = showcaseConfig({ kubeconfig, clusters: made });
    const all = {
      hubs: hubs.config.hubs,
      templates: { ...templates, ...hubs.config.templates, ...this.clusters.config.templates },
      pools: { ...pools, ...hubs.config.pools, ...this.clusters.config.pools },
    };
    this.configFile = join(folder, "berth.yaml");
    writeFileSync(this.configFile, this.#text(all));
    const past = Object.entries(pools).flatMap(([name, pool]) => {
      const { admission: _, ...rest } = pool as { admission?: object };
      return "template" in pool ? [] : [[name, rest] as const];
    });
    this.pastConfig = this.#text({ pools: Object.fromEntries(past) });
  }

  /** `used`: jobs ask for so many of the plain pools. */
  static async make(folder: string, used: number): Promise<DemoWorld> {
    const hubs = await DemoHubs.start(join(folder, "hubs"));
    return new DemoWorld(folder, { management: await ManagementCluster.start(), hubs }, used);
  }

  /** All that is asked for between two times, in order. */
  demand(from: number, to: number, options: DayOptions): Demand[] {
    const plain = demandBetween(this.#used, from, to, options);
    const all = [...plain, ...showcaseDemand(from, to, options)];
    all.sort((a, b) => a.askedAt - b.askedAt);
    return withSpaces(all.map((one, order) => ({ ...one, order })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clusters.destroyAll();
    await this.#management[Symbol.asyncDispose]();
    await this.#hubs[Symbol.asyncDispose]();
  }

  /** The listed pools, and these. JSON is YAML too. */
  #text({
    pools,
    ...rest
  }: {
    readonly pools: object;
    readonly templates?: object;
    readonly hubs?: object;
  }): string {
    const listed = readFileSync(new URL("berth.yaml", import.meta.url), "utf8");
    const lines = Object.entries(pools).map(([name, pool]) => `  ${name}: ${JSON.stringify(pool)}`);
    const head = Object.entries({ ...this.tokens.config, ...rest });
    return `${head.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join("\n")}
${listed.replace(/^pools:$/m, `pools:\n${lines.join("\n")}`)}`;
  }
}

/** A cluster that an earlier server made and nobody knows of any more. */
function leaveOrphan(folder: string): void {
  const name = join(folder, "berth-left-by-an-old-server");
  mkdirSync(name, { recursive: true });
  writeFileSync(join(name, "instance"), "old-server.17");
  writeFileSync(join(name, "createdAt"), new Date(Date.now() - 26 * 3_600_000).toISOString());
  writeFileSync(join(name, "phase"), "ready 0\n");
}
