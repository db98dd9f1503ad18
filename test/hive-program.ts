/** Hive's own controllers, which scripts/hive-controllers builds. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../scripts/hive-controllers", import.meta.url));
const { status, stdout } = spawnSync(script, ["--find"], { encoding: "utf8" });

/** Where the tests must not be left out, as in CI once they are built, missing controllers are a failure. */
const mustBeThere = process.env["BERTH_HIVE_TESTS"] === "required";

export const hiveFolder = stdout.trim();

/** Why the tests with Hive's own controllers cannot run; false if they can. For `context.skip`. */
export const noHive =
  status !== 0 &&
  !mustBeThere &&
  "they need Hive's own controllers, which scripts/hive-controllers builds";

/** The namespace in which Hive itself would run. */
export const hiveNamespace = "hive";

/** A closed port: whatever would talk to a cloud is refused. */
const nowhere = "http://127.0.0.1:9";

export class HiveProgram implements AsyncDisposable {
  readonly #process: ChildProcess;
  #log = "";

  /** `folder`: for a file of its own. */
  constructor(kubeconfig: string, folder: string) {
    const metrics = join(folder, "hive-metrics.json");
    writeFileSync(metrics, "{}"); // They do not start without one.
    const env = {
      ...{ PATH: process.env["PATH"], KUBECONFIG: kubeconfig, HIVE_NS: hiveNamespace },
      ...{ HIVE_CLUSTERSYNC_POD_NAME: "hive-clustersync-0", METRICS_CONFIG_FILE: metrics },
      ...{ HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: "127.0.0.1" },
      AWS_EC2_METADATA_DISABLED: "true",
    };
    this.#process = spawn(join(hiveFolder, "hive-controllers"), { env, stdio: "pipe" });
    this.#process.once("exit", (code) => {
      if (code !== null) console.error(`Hive's controllers ended: ${this.#log.slice(-2_000)}`);
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#log = (this.#log + chunk.toString()).slice(-200_000);
      });
    }
  }

  get log(): string {
    return this.#log;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exit;
  }
}
