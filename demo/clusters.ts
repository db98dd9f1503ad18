/** Real API servers in the demo: the example driver makes them on this machine. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandDriver } from "../src/drivers/command/command-driver.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The folder with kube-apiserver, etcd and kubectl; undefined if nobody has built them. */
function findBinaries(): string | undefined {
  const { status, stdout } = spawnSync(here("../scripts/kube-test-server"), ["--find"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.trim() : undefined;
}

interface ClusterConfig {
  readonly templates: object;
  readonly pools: object;
}

/** A pool of real clusters, if they can be made here. */
export class DemoClusters {
  readonly binaries: string | undefined;
  readonly config: ClusterConfig;
  readonly #driver: CommandDriver | undefined;

  constructor(folder: string) {
    this.binaries = findBinaries();
    this.config = { templates: {}, pools: {} };
    if (this.binaries === undefined) return;
    const env = { CLUSTERS: join(folder, "real-clusters"), KUBE_BINARIES: this.binaries };
    const command = [process.execPath, here("../examples/drivers/local-kubernetes.ts")];
    mkdirSync(env.CLUSTERS);
    const local = { driver: "command", command, env, hibernates: true };
    // One after the other: while the demo starts, the machine has enough to do.
    const kube = { template: "local", size: 2, running: 1, max: 3, concurrent: 1, lifetime: "1h" };
    this.config = { templates: { local }, pools: { kube } };
    const settings = { command, folder, env, timeoutMs: 60_000, hibernates: true, credentials: {} };
    this.#driver = new CommandDriver(settings);
  }

  /** How to get from here to `kubectl`, in three lines to copy. */
  hint(server: string): string {
    if (this.binaries === undefined) {
      return "scripts/kube-test-server builds what the demo needs to lend real clusters too.";
    }
    return `A real Kubernetes API server of your own, until you exit:
  export PATH="${this.binaries}:$PATH"
  ${server}bin/berth run --pool kube -- bash
  kubectl get ns`;
  }

  /** Nothing outlives the demo. */
  async destroyAll(): Promise<void> {
    for (const each of (await this.#driver?.list()) ?? []) await this.#driver?.destroy(each);
  }
}
