#!/usr/bin/env node
/**
 * A complete driver: real, throw-away Kubernetes API servers on this machine. Each cluster is a folder
 * with two processes, etcd and kube-apiserver. Hibernating stops them and keeps their data.
 *
 *   CLUSTERS     the folder of all clusters
 *   KUBE_BINARIES  the folder that has etcd and kube-apiserver
 *
 * How drivers are called: docs/guides/drivers.md
 */
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { get } from "node:https";
import { createServer, type Server } from "node:net";
import { join } from "node:path";

const exit = { retry: 10, hopeless: 20, absent: 30, conflict: 40 };
const fail = (code: number, why: string): never => {
  console.error(why);
  process.exit(code);
};
const { CLUSTERS = fail(exit.hopeless, "CLUSTERS is not set"), KUBE_BINARIES = "/usr/bin" } =
  process.env;
const verb = process.argv[2] ?? "";
const request: Request = JSON.parse(fs.readFileSync(0, "utf8"));
const folder = join(CLUSTERS, String(request.name ?? ""));
const file = (name: string) => join(folder, name);
const parts = ["etcd", "kube-apiserver"];

interface Request {
  readonly name: string;
  readonly instance: string;
  readonly template: string;
  readonly revision: string;
  readonly parameters: object;
}

interface Cluster {
  readonly instance: string;
  readonly spec: string;
  readonly createdAt: string;
  readonly token: string;
  readonly ports: readonly number[];
  /** Whether its processes should run. */
  readonly awake: boolean;
}

/** Undefined if there is none, or if the name belongs to another instance. */
function find(name = folder): Cluster | undefined {
  try {
    const found: Cluster = JSON.parse(fs.readFileSync(join(name, "cluster.json"), "utf8"));
    return name !== folder || found.instance === request.instance ? found : undefined;
  } catch {
    return undefined;
  }
}
const mine = () => find() ?? fail(exit.absent, `There is no cluster ${request.name}`);

/** In one step: a crash leaves the old text or the new one. Nobody overwrites what is `fresh`. */
function write(cluster: Cluster, fresh = false): void {
  const draft = file(`cluster.json.${process.pid}`);
  fs.writeFileSync(draft, JSON.stringify(cluster), { mode: 0o600 });
  if (!fresh) return fs.renameSync(draft, file("cluster.json"));
  try {
    fs.linkSync(draft, file("cluster.json"));
  } catch {
    fail(exit.retry, `${request.name} is being made by another call`);
  } finally {
    fs.rmSync(draft);
  }
}

/** The id of a part's process, while it runs. Another process may have got the number since. */
function pidOf(part: string): number | undefined {
  try {
    const pid = Number(fs.readFileSync(file(`${part}.pid`), "utf8"));
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** A process notes its own id before it becomes the program, so none is ever forgotten. */
function run(part: string, args: readonly string[]): void {
  if (pidOf(part) !== undefined) return;
  if (fs.existsSync(file(`${part}.pid`))) fs.rmSync(file(`${part}.pid`)); // Of one that has ended.
  const log = fs.openSync(file(`${part}.log`), "a");
  const note = 'set -C; echo $$ > "$1" && shift && exec "$@"'; // Fails if another was faster.
  const words = ["-c", note, "sh", file(`${part}.pid`), join(KUBE_BINARIES, part), ...args];
  spawn("sh", words, { cwd: folder, detached: true, stdio: ["ignore", log, log] }).unref();
}

/** Makes the files that are missing, so that a second call completes what a first one began. */
function prepare({ token }: Cluster): void {
  if (fs.existsSync(file("tokens.csv"))) return;
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const secret = { mode: 0o600 };
  fs.writeFileSync(file("accounts.pub"), publicKey.export({ type: "spki", format: "pem" }));
  fs.writeFileSync(
    file("accounts.key"),
    privateKey.export({ type: "pkcs1", format: "pem" }),
    secret,
  );
  fs.writeFileSync(file("tokens.csv"), `${token},admin,admin,system:masters\n`, secret);
}

function start({ ports: [api, client, peer] }: Cluster): void {
  const local = (port: number | undefined) => `http://127.0.0.1:${port}`;
  run("etcd", [
    ...["--data-dir", file("etcd"), "--unsafe-no-fsync", "--log-level", "error"],
    ...["--listen-client-urls", local(client), "--advertise-client-urls", local(client)],
    ...["--listen-peer-urls", local(peer), "--initial-advertise-peer-urls", local(peer)],
    ...["--initial-cluster", `default=${local(peer)}`],
  ]);
  run("kube-apiserver", [
    ...["--bind-address", "127.0.0.1", "--secure-port", String(api), "--cert-dir", file("certs")],
    ...["--etcd-servers", local(client), "--authorization-mode", "RBAC"],
    ...["--token-auth-file", file("tokens.csv"), "--service-cluster-ip-range", "10.0.0.0/24"],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--service-account-key-file", file("accounts.pub")],
    ...["--service-account-signing-key-file", file("accounts.key")],
    ...["--disable-admission-plugins", "ServiceAccount", "--endpoint-reconciler-type", "none"],
  ]);
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  for (let tries = 0; parts.some((part) => pidOf(part) !== undefined); tries++) {
    for (const part of parts) {
      const pid = pidOf(part);
      if (pid !== undefined) process.kill(pid, tries > 100 ? "SIGKILL" : signal);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** All are open at the same time, so that no two are the same. */
async function freePorts(): Promise<number[]> {
  const open = () =>
    new Promise<Server>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
    });
  const servers = await Promise.all([open(), open(), open()]);
  return servers.map((server) => {
    const address = server.address();
    server.close();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
}

function answers({ ports: [api], token }: Cluster): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const options = { headers, rejectUnauthorized: false, timeout: 5_000, agent: false };
    get(`https://127.0.0.1:${api}/readyz`, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on("error", () => resolve(false))
      .on("timeout", () => resolve(false));
  });
}

/** What a call leaves that died before it wrote anything. */
function isEmpty(path: string): boolean {
  return fs.existsSync(path) && fs.readdirSync(path).length === 0;
}

const verbs: Record<string, () => object | string | Promise<object | string>> = {
  async create() {
    const spec = JSON.stringify([request.template, request.revision, request.parameters]);
    const found = find();
    if (found === undefined && fs.existsSync(file("cluster.json"))) {
      fail(exit.conflict, `${request.name} belongs to another instance`);
    }
    if (found !== undefined && found.spec !== spec) {
      fail(exit.conflict, `${request.name} was made with another spec`);
    }
    if (found === undefined) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      const token = randomBytes(24).toString("hex");
      const made = { instance: request.instance, spec, createdAt: new Date().toISOString(), token };
      write({ ...made, ports: await freePorts(), awake: true }, true);
    }
    prepare(mine());
    start(mine());
    return { handle: { folder } };
  },
  async observe() {
    const cluster = find();
    if (cluster === undefined) return { phase: "absent" };
    const running = parts.filter((part) => pidOf(part) !== undefined);
    if (!cluster.awake) return { phase: running.length > 0 ? "stopping" : "hibernated" };
    const apiUrl = `https://127.0.0.1:${cluster.ports[0]}`;
    if (running.length === 2 && (await answers(cluster))) return { phase: "ready", apiUrl };
    const started = parts.every((part) => fs.existsSync(file(`${part}.pid`)));
    const dead = parts.find((part) => started && !running.includes(part));
    if (dead === undefined) return { phase: "creating", message: "Waits for the API server" };
    const log = fs
      .readFileSync(file(`${dead}.log`), "utf8")
      .trim()
      .split("\n");
    return {
      phase: "failed",
      message: `${dead} has ended: ${log.slice(-3).join("\n").slice(-500)}`,
    };
  },
  credentials() {
    const { ports, token } = mine();
    const ca = fs.readFileSync(file("certs/apiserver.crt")).toString("base64");
    const server = `https://127.0.0.1:${ports[0]}`;
    const kubeconfig = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": request.name },
      clusters: [{ name: "local", cluster: { server, "certificate-authority-data": ca } }],
      users: [{ name: "admin", user: { token } }],
      contexts: [{ name: request.name, context: { cluster: "local", user: "admin" } }],
    };
    return { kubeconfig: JSON.stringify(kubeconfig) };
  },
  async hibernate() {
    write({ ...mine(), awake: false });
    await stop("SIGTERM");
    return {};
  },
  resume() {
    write({ ...mine(), awake: true });
    start(mine());
    return {};
  },
  async destroy() {
    const found = find();
    if (found === undefined && !isEmpty(folder)) return {};
    if (found !== undefined) await stop("SIGKILL");
    const rest = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
    // It is known until its last file is gone.
    for (const name of rest.filter((each) => each !== "cluster.json")) {
      fs.rmSync(file(name), { recursive: true });
    }
    fs.rmSync(folder, { recursive: true, force: true });
    return {};
  },
  list() {
    const names = fs.existsSync(CLUSTERS) ? fs.readdirSync(CLUSTERS) : [];
    return {
      instances: names.flatMap((name) => {
        const found = find(join(CLUSTERS, name));
        return found ? [{ name, instance: found.instance, createdAt: found.createdAt }] : [];
      }),
    };
  },
  logs() {
    const logs = parts.map((part) => file(`${part}.log`)).filter((path) => fs.existsSync(path));
    return logs.map((path) => `== ${path}\n${fs.readFileSync(path, "utf8")}`).join("\n");
  },
};

const call = verbs[verb] ?? fail(64, `There is no verb ${verb}`);
const reply = await call();
console.log(typeof reply === "string" ? reply : JSON.stringify(reply));
