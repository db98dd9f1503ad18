/** Each client with a cluster: it leases one of a pool, and runs a command with its kubeconfig. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { berthPath, cleanEnv, Process, type TestServer } from "./cli-processes.ts";
import { go, noGo } from "./go-program.ts";
import { noPython, python } from "./python-program.ts";

const script = fileURLToPath(new URL("../clients/shell/client.sh", import.meta.url));
const library = fileURLToPath(new URL("../clients/python", import.meta.url));

const inPython = `
import berth, os, subprocess, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    with berth.Client.from_environment().lease(sys.argv[1], holder="python") as lease:
        path = os.path.join(folder, "kubeconfig")
        lease.write_kubeconfig(lease.claims[0], path)
        subprocess.run(sys.argv[2:], env={**os.environ, "KUBECONFIG": path}, check=True)
`;

export const clusterClients = ["berth run", "shell", "Go", "Python"] as const;

/** Why this client cannot be tested here; false if it can. */
export function missing(client: (typeof clusterClients)[number]): string | false {
  return client === "Go" ? noGo : client === "Python" ? noPython : false;
}

export class ClusterClients implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "berth-cluster-clients-"));

  /** `command` is a piece of shell. */
  start(
    client: (typeof clusterClients)[number],
    pool: string,
    server: TestServer,
    command: string,
  ) {
    const run = ["run", "--pool", pool, "--", "sh", "-c", command];
    const [file = "", ...args] = {
      "berth run": [berthPath, ...run],
      shell: ["sh", script, ...run],
      Go: [this.#goProgram(client), pool, "sh", "-c", command],
      Python: [python, "-c", inPython, pool, "sh", "-c", command],
    }[client];
    const more = { PYTHONPATH: library, PYTHONDONTWRITEBYTECODE: "1" };
    return new Process(file, args, { ...cleanEnv, ...more, BERTH_URL: server.url });
  }

  #goProgram(client: string): string {
    const program = join(this.#folder, "access");
    if (client === "Go") go("build", "-o", program, "./internal/access");
    return program;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
