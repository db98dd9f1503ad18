/**
 * A real Kubernetes API server with its etcd. RBAC is on. At most the controller of namespaces and the garbage collector
 * run beside it: if a test needs the work of another one, such as counting a quota, the test does it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause } from "../src/client/pause.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import { LeaseStore } from "../src/kubernetes/lease-store.ts";
import { freePort } from "./free-port.ts";
import { findKubeBinaries } from "./kube-binaries.ts";

const adminToken = "the-administrator-of-this-test";
/** A loaded machine takes its time. */
const startMsMax = 180_000;

interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
}

/** Another process can use a running cluster by its address. */
export interface ClusterAddress {
  readonly folder: string;
  readonly binaries: string;
  readonly ports: Ports;
}

/** Of a kubeconfig that was written here. */
interface Accounts {
  readonly users: readonly [{ readonly name: string; readonly user: { readonly token: string } }];
}

export class KubeCluster implements AsyncDisposable {
  readonly #address: ClusterAddress | undefined;
  #etcd: ChildProcess | undefined;
  #server: ChildProcess | undefined;
  #controllers: ChildProcess | undefined;
  #log = "";
  #namespaces = 0;

  private constructor(address: ClusterAddress | undefined) {
    this.#address = address;
  }

  /** Uses a cluster that another process started. Without one, the first use throws. */
  static at(address: ClusterAddress | undefined): KubeCluster {
    return new KubeCluster(address);
  }

  /** `controllers`: deleted namespaces go away, where there is a kube-controller-manager. */
  static async start({ controllers = false } = {}): Promise<KubeCluster> {
    const found = findKubeBinaries();
    if ("missing" in found) throw new Error(found.missing);
    const folder = await mkdtemp(join(tmpdir(), "berth-kube-test-"));
    const ports = { api: await freePort(), etcd: await freePort(), peer: await freePort() };
    const cluster = new KubeCluster({ folder, binaries: found.folder, ports });
    try {
      await cluster.#prepare();
      cluster.#startEtcd();
      await cluster.startServer();
      if (controllers && cluster.hasControllers) cluster.#startControllers();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw new Error(`The API server did not start:\n${cluster.#log.slice(-4_000)}`, {
        cause: error,
      });
    }
    return cluster;
  }

  get address(): ClusterAddress {
    if (this.#address !== undefined) return this.#address;
    const found = findKubeBinaries();
    throw new Error("missing" in found ? found.missing : "The API server was not started");
  }

  get folder(): string {
    return this.address.folder;
  }

  get binaries(): string {
    return this.address.binaries;
  }

  /** Kubernetes of Debian has none. */
  get hasControllers(): boolean {
    return existsSync(join(this.binaries, "kube-controller-manager"));
  }

  get url(): string {
    return `https://127.0.0.1:${this.address.ports.api}`;
  }

  get adminConfig(): string {
    return join(this.folder, "admin.kubeconfig");
  }

  async admin(): Promise<ApiServer> {
    return ApiServer.connect({ kubeconfig: this.adminConfig });
  }

  /** Every test has its own namespace, so that it does not see objects of other tests. */
  async namespace(): Promise<string> {
    const name = `test-${process.pid}-${++this.#namespaces}`;
    const body = { metadata: { name } };
    await (await this.admin()).call({ method: "POST", path: ["api", "v1", "namespaces"], body });
    return name;
  }

  async store(namespace: string, kubeconfig = this.adminConfig): Promise<LeaseStore> {
    return new LeaseStore(await ApiServer.connect({ kubeconfig }), namespace);
  }

  /** Creates objects of any kind, as `kubectl create` would. */
  async create(path: readonly string[], ...objects: readonly object[]): Promise<KubeObject[]> {
    const api = await this.admin();
    const made: KubeObject[] = [];
    for (const body of objects) made.push(await api.call({ method: "POST", path, body }));
    return made;
  }

  /** The same account by another way, such as through a proxy. */
  async configVia(url: string, kubeconfig: string): Promise<string> {
    const { users } = JSON.parse(await readFile(kubeconfig, "utf8")) as Accounts;
    const { name, user } = users[0];
    return this.configFor(`${name}-${new URL(url).port}`, user.token, url);
  }

  /** A kubeconfig for somebody with this token. */
  async configFor(name: string, token: string, url = this.url): Promise<string> {
    const ca = (await readFile(join(this.folder, "certs", "apiserver.crt"))).toString("base64");
    const path = join(this.folder, `${name}.kubeconfig`);
    const trust = url.startsWith("http:")
      ? { "insecure-skip-tls-verify": true }
      : { "certificate-authority-data": ca };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server: url, ...trust } }],
      users: [{ name, user: { token } }],
      contexts: [{ name: "test", context: { cluster: "test", user: name } }],
      "current-context": "test",
    };
    await writeFile(path, JSON.stringify(config));
    return path;
  }

  async startServer(): Promise<void> {
    this.#server = this.#spawn("kube-apiserver", [
      ...["--bind-address", "127.0.0.1", "--secure-port", String(this.address.ports.api)],
      ...["--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none"],
      ...["--etcd-servers", `http://127.0.0.1:${this.address.ports.etcd}`],
      ...["--cert-dir", join(this.folder, "certs")],
      ...["--authorization-mode", "RBAC"],
      ...["--token-auth-file", join(this.folder, "tokens.csv")],
      ...["--service-account-issuer", "https://kubernetes.default.svc"],
      ...["--service-account-key-file", join(this.folder, "accounts.pub")],
      ...["--service-account-signing-key-file", join(this.folder, "accounts.key")],
      ...["--service-cluster-ip-range", "10.0.0.0/24"],
      // Its default account would be made by the controller-manager.
      ...["--disable-admission-plugins", "ServiceAccount"],
    ]);
    await this.#ready();
  }

  async stopServer(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await ended(this.#server, signal);
    this.#server = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await ended(this.#controllers, "SIGKILL");
    await this.stopServer();
    await ended(this.#etcd, "SIGKILL");
    await rm(this.folder, { recursive: true, force: true });
  }

  async #prepare(): Promise<void> {
    const keys = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    await writeFile(join(this.folder, "accounts.pub"), keys.publicKey);
    await writeFile(join(this.folder, "accounts.key"), keys.privateKey, { mode: 0o600 });
    const admin = `${adminToken},admin,admin,system:masters\n`;
    await writeFile(join(this.folder, "tokens.csv"), admin, { mode: 0o600 });
  }

  #startEtcd(): void {
    const client = `http://127.0.0.1:${this.address.ports.etcd}`;
    const peer = `http://127.0.0.1:${this.address.ports.peer}`;
    this.#etcd = this.#spawn("etcd", [
      ...["--data-dir", join(this.folder, "etcd"), "--unsafe-no-fsync"],
      ...["--listen-client-urls", client, "--advertise-client-urls", client],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ...["--initial-cluster", `default=${peer}`, "--log-level", "error"],
    ]);
  }

  #startControllers(): void {
    this.#controllers = this.#spawn("kube-controller-manager", [
      ...["--kubeconfig", this.adminConfig],
      ...["--controllers", "namespace-controller,garbage-collector-controller"],
      ...["--leader-elect=false", "--secure-port", "0"],
    ]);
  }

  #spawn(binary: string, args: readonly string[]): ChildProcess {
    const file = join(this.binaries, binary);
    const stdio = ["pipe", "pipe", "pipe"] as const;
    const child = spawn("sh", ["-c", untilOrphaned, "sh", file, ...args], { stdio: [...stdio] });
    const keep = (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-100_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    return child;
  }

  /** Its roles are made by hooks after it has begun to listen; `readyz` waits for them. */
  async #ready(): Promise<void> {
    const untilMs = performance.now() + startMsMax;
    for (;;) {
      try {
        await this.configFor("admin", adminToken);
        const api = await this.admin();
        await api.call({ path: ["api", "v1", "namespaces", "kube-system"] });
        const probe = await api.open({ path: ["readyz"], signal: AbortSignal.timeout(5_000) });
        await probe.cancel();
        return;
      } catch (error) {
        if (performance.now() > untilMs || this.#server?.exitCode !== null) throw error;
        await pause(100);
      }
    }
  }
}

/** Its input closes when whoever started it is gone, however that went; then it is ended, too. */
const untilOrphaned =
  'exec 3<&0; (read -r _ <&3; kill -9 $$) > /dev/null 2>&1 & exec "$@" < /dev/null 3<&-';

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
  child.stdin?.destroy();
}
