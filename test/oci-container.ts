/** Runs an image with a real runtime of containers (runc): not as root, its root file system read-only. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Process } from "./cli-processes.ts";
import { output, type Ran, ran, without } from "./programs.ts";

/** Why containers cannot be run here; false if they can. For `context.skip`. */
export function noContainers(): string | false {
  const missing = without("buildah", "buildah") || without("runc", "runc");
  if (missing !== false) return missing;
  const isAllowed =
    process.getuid?.() === 0 && ran("unshare", ["--mount", "--net", "true"]).status === 0;
  return isAllowed ? false : "they need root, and the right to make namespaces";
}

/** What the image says about itself, as `docker inspect` shows it. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface ContainerMount {
  readonly from: string;
  readonly to: string;
  readonly writable?: boolean;
}

export class OciImage implements Disposable {
  readonly config: ImageConfig;
  readonly #tag: string;
  readonly #container: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "berth-container-test-"));
  readonly root: string;
  #runs = 0;

  constructor(tag: string) {
    this.#tag = tag;
    const about = JSON.parse(output("buildah", ["inspect", "--type", "image", tag]));
    this.config = about.Docker.config;
    this.#container = output("buildah", ["from", "--pull-never", tag]).trim();
    this.root = output("buildah", ["mount", this.#container]).trim();
  }

  /** Starts the image's own command, with more arguments and variables. */
  start(mounts: readonly ContainerMount[], args = this.config.Cmd): RunningContainer {
    const name = `berth-test-${process.pid}-${++this.#runs}`;
    const bundle = join(this.#folder, name);
    mkdirSync(bundle);
    writeFileSync(join(bundle, "config.json"), JSON.stringify(this.#bundle(mounts, args)));
    return new RunningContainer(name, bundle, this.config);
  }

  #bundle(mounts: readonly ContainerMount[], args: readonly string[]): object {
    const { User, Env, Entrypoint, WorkingDir } = this.config;
    const [uid, gid] = User.split(":").map(Number);
    const noRights = { bounding: [], effective: [], permitted: [] };
    return {
      ociVersion: "1.0.2",
      process: {
        user: { uid, gid },
        args: [...Entrypoint, ...args],
        env: Env,
        cwd: WorkingDir,
        capabilities: noRights,
        noNewPrivileges: true,
      },
      root: { path: this.root, readonly: true },
      mounts: [
        { destination: "/proc", type: "proc", source: "proc" },
        { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
        { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev"] },
        ...mounts.map(({ from, to, writable }) => {
          const options = ["bind", writable ? "rw" : "ro"];
          return { destination: to, type: "bind", source: from, options };
        }),
      ],
      // Its own network has a loopback, and nothing else.
      linux: {
        namespaces: ["pid", "network", "ipc", "uts", "mount"].map((type) => ({ type })),
      },
    };
  }

  [Symbol.dispose](): void {
    ran("buildah", ["rm", this.#container]);
    ran("buildah", ["rmi", this.#tag]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export class RunningContainer extends Process {
  readonly #name: string;
  readonly #config: ImageConfig;

  constructor(name: string, bundle: string, config: ImageConfig) {
    super("runc", ["run", "--bundle", bundle, name], process.env);
    this.#name = name;
    this.#config = config;
  }

  /** Runs another process in the container, as the same user. */
  exec(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ran {
    const variables = Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
    return ran("runc", ["exec", ...variables, this.#name, ...args]);
  }

  /** Runs the image's entry point, which is `berth`. */
  berth(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ran {
    return this.exec([...this.#config.Entrypoint, ...args], env);
  }

  /** What a runtime does that stops the container. */
  stop(): void {
    output("runc", ["kill", this.#name, "TERM"]);
  }

  kill(): void {
    ran("runc", ["delete", "--force", this.#name]);
  }
}
