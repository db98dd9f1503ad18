#!/usr/bin/env node
/**
 * A complete driver: real, throw-away Kubernetes API servers on this machine. Each cluster is a folder
 * of CLUSTERS with two processes, etcd and kube-apiserver of KUBE_BINARIES. Hibernating stops them and
 * keeps their data. Nothing else is remembered, so every call can be repeated, and the next call
 * finishes what one began that has died. How drivers are called: docs/guides/drivers.md
 */
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { get } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

const fail = (code: number, why: string): never => {
  console.error(why);
  process.exit(code);
};
const { CLUSTERS = fail(20, "CLUSTERS is not set"), KUBE_BINARIES = "/usr/bin" } = process.env;
fs.mkdirSync(CLUSTERS, { recursive: true, mode: 0o700 });
const all = fs.realpathSync(CLUSTERS);
const request = JSON.parse(fs.readFileSync(0, "utf8"));
const folder = join(all, String(request.name ?? ""));
/** A cluster that is not whole yet, or not any longer. */
const draft = join(all, `.${request.name}`);
const read = (name: string) => fs.readFileSync(join(folder, name), "utf8");
const exists = (name: string) => fs.existsSync(join(folder, name));

/** Undefined if there is none, or if the name belongs to another instance. */
function find() {
  const cluster = exists("cluster.json") ? JSON.parse(read("cluster.json")) : undefined;
  return cluster?.instance === request.instance ? cluster : undefined;
}
const mine = () => find() ?? fail(30, `There is no cluster ${request.name}`);

/** By what they run and in which folder: no process is forgotten, and no other is meant. */
const processes = () =>
  fs.readdirSync("/proc").filter((pid) => {
    try {
      const program = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "";
      const isOurs = program.startsWith(resolve(KUBE_BINARIES));
      return isOurs && fs.readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // Not a process, or it has just ended.
    }
  });

/** What runs already goes on: a second process finds its data or its port taken, and ends. */
function start({ ports: [api, etcd, peer] }: { readonly ports: readonly number[] }): void {
  fs.rmSync(join(folder, "asleep"), { force: true });
  if (processes().length === 2) return;
  const local = "http://127.0.0.1";
  const flags = {
    etcd: `--data-dir=etcd --unsafe-no-fsync --log-level=error --initial-cluster=default=${local}:${peer}
      --listen-client-urls=${local}:${etcd} --advertise-client-urls=${local}:${etcd}
      --listen-peer-urls=${local}:${peer} --initial-advertise-peer-urls=${local}:${peer}`,
    "kube-apiserver": `--bind-address=127.0.0.1 --secure-port=${api} --etcd-servers=${local}:${etcd}
      --cert-dir=certs --token-auth-file=tokens.csv --authorization-mode=RBAC
      --service-account-key-file=accounts.key --service-account-signing-key-file=accounts.key
      --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.0.0.0/24
      --disable-admission-plugins=ServiceAccount --endpoint-reconciler-type=none`,
  };
  for (const [name, text] of Object.entries(flags)) {
    const log = fs.openSync(join(folder, `${name}.log`), "a");
    const options = { cwd: folder, detached: true, stdio: ["ignore" as const, log, log] };
    spawn(resolve(KUBE_BINARIES, name), text.split(/\s+/), options).unref();
  }
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  for (let tries = 0; processes().length > 0; tries++) {
    for (const pid of processes()) process.kill(Number(pid), tries > 100 ? "SIGKILL" : signal);
    await setTimeout(50);
  }
}

/** All three are open at the same time, so that no two are the same. */
async function freePorts(): Promise<number[]> {
  const servers = [0, 0, 0].map((port) => createServer().listen(port, "127.0.0.1"));
  await Promise.all(servers.map((server) => new Promise((done) => server.on("listening", done))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) server.close();
  return ports;
}

const isReady = (url: string, token: string) =>
  new Promise((done) => {
    const headers = { authorization: `Bearer ${token}` };
    const options = { headers, ca: read("certs/apiserver.crt"), timeout: 5_000, agent: false };
    get(`${url}/readyz`, options, ({ statusCode }) => done(statusCode === 200))
      .on("error", () => done(false))
      .on("timeout", () => done(false));
  });

const verbs: Record<string, () => unknown> = {
  async create() {
    const spec = JSON.stringify([request.template, request.revision, request.parameters]);
    if (exists("") && find()?.spec !== spec) fail(40, `${request.name} is another cluster`);
    if (!exists("")) {
      fs.rmSync(draft, { recursive: true, force: true });
      fs.mkdirSync(draft, { mode: 0o700 });
      const write = (name: string, text: string | Buffer) =>
        fs.writeFileSync(join(draft, name), text, { mode: 0o600 });
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      const token = randomBytes(24).toString("hex");
      write("accounts.key", privateKey.export({ type: "pkcs1", format: "pem" }));
      write("tokens.csv", `${token},admin,admin,system:masters\n`);
      const about = { instance: request.instance, createdAt: new Date().toISOString() };
      write("cluster.json", JSON.stringify({ ...about, spec, token, ports: await freePorts() }));
      fs.renameSync(draft, folder); // It is there as a whole, or not at all.
    }
    start(mine());
    return { handle: { folder } };
  },
  async observe() {
    const cluster = find();
    if (cluster === undefined) return { phase: "absent" };
    const count = processes().length;
    if (exists("asleep")) return { phase: count > 0 ? "stopping" : "hibernated" };
    if (count < 2 && exists("kube-apiserver.log")) {
      return { phase: "failed", message: `A process has ended: ${verbs["logs"]?.()}`.slice(-500) };
    }
    const apiUrl = `https://127.0.0.1:${cluster.ports[0]}`;
    const ready = exists("certs/apiserver.crt") && (await isReady(apiUrl, cluster.token));
    return ready ? { phase: "ready", apiUrl } : { phase: "creating" };
  },
  credentials() {
    const { ports, token } = mine();
    const ca = Buffer.from(read("certs/apiserver.crt")).toString("base64");
    const kubeconfig = `{ apiVersion: v1, kind: Config, current-context: local,
      contexts: [{ name: local, context: { cluster: local, user: admin } }],
      users: [{ name: admin, user: { token: "${token}" } }],
      clusters: [{ name: local, cluster: {
        server: "https://127.0.0.1:${ports[0]}", certificate-authority-data: "${ca}" } }] }`;
    return { kubeconfig };
  },
  async hibernate() {
    mine();
    fs.writeFileSync(join(folder, "asleep"), "");
    await stop("SIGTERM");
    return {};
  },
  resume() {
    start(mine());
    return {};
  },
  async destroy() {
    if (find() !== undefined) await stop("SIGKILL");
    // Also what a call has left that died here.
    fs.rmSync(draft, { recursive: true, force: true });
    if (find() !== undefined) fs.renameSync(folder, draft);
    fs.rmSync(draft, { recursive: true, force: true });
    return {};
  },
  list: () => ({
    instances: fs.globSync("[!.]*/cluster.json", { cwd: all }).map((path) => {
      const { instance, createdAt } = JSON.parse(fs.readFileSync(join(all, path), "utf8"));
      return { name: path.split("/")[0], instance, createdAt };
    }),
  }),
  logs: () => ["etcd.log", "kube-apiserver.log"].filter(exists).map(read).join("\n"),
};

const call = verbs[process.argv[2] ?? ""] ?? fail(64, `There is no verb ${process.argv[2]}`);
const reply = await call();
console.log(typeof reply === "string" ? reply : JSON.stringify(reply));
