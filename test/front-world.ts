/** A server that serves the objects of an API server, with the account of `deploy/caas` and through a proxy. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { BerthClient } from "../src/client/berth-client.ts";
import { TestServer } from "./cli-processes.ts";
import type { KubeCluster } from "./kube-cluster.ts";
import { KubeProxy } from "./kube-proxy.ts";
import { accountConfig } from "./slots-world.ts";

const driver = fileURLToPath(new URL("./fixtures/drivers/scripted.sh", import.meta.url));
const run = promisify(execFile);

interface Granted {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const rights = parseAllDocuments(
  readFileSync(new URL("../deploy/caas/rights.yaml", import.meta.url), "utf8"),
).map((each) => each.toJS() as Granted);

/** `verb resource` of all rights of the file. */
export const grantedRights = rights.flatMap(({ rules = [] }) =>
  rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  ),
);

const shiftClock = fileURLToPath(new URL("shift-clock.ts", import.meta.url));

export class FrontWorld implements AsyncDisposable {
  readonly cluster: KubeCluster;
  readonly proxy: KubeProxy;
  readonly namespace: string;
  readonly server: TestServer;
  readonly client: BerthClient;
  /** The folder of the scripted clusters. */
  readonly world: string;
  readonly config: { readonly caas: Readonly<Record<string, object>> };
  /** What a server says about an API server has an address, too. */
  readonly #url: string;

  private constructor(
    parts: Pick<
      FrontWorld,
      "cluster" | "proxy" | "namespace" | "server" | "client" | "world" | "config"
    >,
  ) {
    this.config = parts.config;
    this.cluster = parts.cluster;
    this.proxy = parts.proxy;
    this.namespace = parts.namespace;
    this.server = parts.server;
    this.client = parts.client;
    this.world = parts.world;
    this.#url = parts.server.url;
  }

  /** `spacesToo`: the namespaces of spaces are also made through the proxy. */
  static async start(
    cluster: KubeCluster,
    {
      without,
      spacesToo = false,
      hoursAhead = 0,
      neighbours = [],
    }: {
      readonly without?: string;
      readonly spacesToo?: boolean;
      /** Of the clock of Berth's server. */
      readonly hoursAhead?: number;
      /** Other namespaces that it serves. */
      readonly neighbours?: readonly string[];
    } = {},
  ): Promise<FrontWorld> {
    const namespace = await cluster.namespace();
    const world = await mkdtemp(join(tmpdir(), "berth-front-"));
    await mkdir(join(world, "do"));
    const proxy = await KubeProxy.start(cluster);
    const account = await makeAccount(cluster, namespace, without);
    const kubeconfig = await cluster.configVia(proxy.url, account);
    const front = {
      kubeconfig,
      namespaces: [namespace, ...neighbours],
      clusterTemplates: { [`small-${namespace}`]: "ocp" },
      spaceRequests: { tier: "ns" },
      namespaceClaims: "ns",
    };
    const admin = cluster.adminConfig;
    const spaces = spacesToo ? await cluster.configVia(proxy.url, admin) : admin;
    const env = { WORLD: world, PATH: process.env["PATH"] ?? "" };
    const parameters = {
      version: { enum: ["1.34", "1.35"], default: "1.35" },
      workers: { type: "integer", maximum: 6, default: 2 },
    };
    const config = {
      templates: {
        small: { driver: "command", command: [driver], env, parameters, cost: 3 },
        ns: { driver: "namespace", kubeconfig: spaces },
      },
      pools: { ocp: { template: "small", max: 4 }, ns: { template: "ns", max: 4 } },
      // Servers of one name would not publish each other's templates.
      caas: { [`tenants-${namespace}`]: front },
    };
    const clock = { NODE_OPTIONS: `--import=${shiftClock}`, TEST_CLOCK_OFF_HOURS: `${hoursAhead}` };
    const server = await TestServer.startIn(hoursAhead === 0 ? {} : clock, config);
    const client = new BerthClient({ url: server.url });
    return new FrontWorld({ cluster, proxy, namespace, server, client, world, config });
  }

  /** Another installation of Berth, with the same name for the API server but another template. */
  async beside(): Promise<TestServer> {
    const [front] = Object.values(this.config.caas);
    const clusterTemplates = { [`other-${this.namespace}`]: "ocp" };
    const caas = { [this.front]: { ...front, clusterTemplates } };
    return TestServer.startWith({ ...this.config, caas });
  }

  get template(): string {
    return `small-${this.namespace}`;
  }

  /** The name of the API server in the configuration. */
  get front(): string {
    return `tenants-${this.namespace}`;
  }

  /** As the administrator, in the namespace of the test. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const own = ["--kubeconfig", this.cluster.adminConfig, "-n", this.namespace];
    const { stdout } = await run(join(this.cluster.binaries, "kubectl"), [...own, ...args]);
    return stdout;
  }

  async object(kind: string, name: string): Promise<Seen | undefined> {
    const found = await this.kubectl("get", kind, name, "--ignore-not-found", "-o", "json");
    return found === "" ? undefined : (JSON.parse(found) as Seen);
  }

  async create(object: object): Promise<void> {
    const api = await this.cluster.admin();
    const { apiVersion, kind, ...rest } = object as {
      apiVersion: string;
      kind: string;
      metadata: object;
    };
    const plural = `${kind.toLowerCase()}s`;
    const path = ["apis", ...apiVersion.split("/"), "namespaces", this.namespace, plural];
    const core = ["api", "v1", "namespaces", this.namespace, plural];
    const at = apiVersion === "v1" ? core : path;
    await api.call({ method: "POST", path: at, body: { apiVersion, kind, ...rest } });
  }

  instance(name: string, spec: object = {}): Promise<void> {
    return this.create({
      ...{ apiVersion: "clustertemplate.openshift.io/v1alpha1", kind: "ClusterTemplateInstance" },
      ...{ metadata: { name }, spec: { clusterTemplateRef: this.template, ...spec } },
    });
  }

  /** Leases of objects; the provisioner has some too. */
  async leases() {
    const all = await this.client.everyLease();
    return all.filter(({ holder }) => holder.startsWith(`${this.namespace}/`));
  }

  /** As a machine that loses its power. */
  async crash(): Promise<void> {
    await this.server.stop("SIGKILL");
    await this.server.start(new URL(this.#url).host);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The namespace goes when nobody holds on to its objects.
    await this.kubectl("delete", "namespace", this.namespace, "--wait=false").catch(() => "");
    await this.kubectl("delete", "clustertemplate", this.template, "--ignore-not-found");
    for (const kind of ["clusterrole", "clusterrolebinding"]) {
      await this.kubectl("delete", kind, `berth-front-${this.namespace}`, "--ignore-not-found");
    }
    await this.server[Symbol.asyncDispose]();
    for (const kind of ["cti", "spacerequests", "namespaces.eaas.konflux-ci.dev"]) {
      const names = (await this.kubectl("get", kind, "-o", "name").catch(() => "")).split("\n");
      const change = ["--type", "merge", "-p", '{"metadata":{"finalizers":[]}}'];
      for (const name of names.filter((each) => each !== "")) {
        await this.kubectl("patch", name, ...change).catch(() => "");
      }
    }
    await this.proxy[Symbol.asyncDispose]();
    await rm(this.world, { recursive: true, force: true });
  }
}

export interface Seen {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  } & Readonly<Record<string, unknown>>;
}

/** The account of the file, with a name for each test; `without`: one right less. */
async function makeAccount(
  cluster: KubeCluster,
  namespace: string,
  without?: string,
): Promise<string> {
  const accounts = ["api", "v1", "namespaces", namespace, "serviceaccounts"];
  await cluster.create(accounts, { metadata: { name: "berth-front" } });
  const name = `berth-front-${namespace}`;
  const [role] = rights.filter(({ kind }) => kind === "ClusterRole");
  const rules = (role?.rules ?? []).flatMap((rule) =>
    rule.resources.flatMap((resource) => {
      const verbs = rule.verbs.filter((verb) => `${verb} ${resource}` !== without);
      return verbs.length === 0 ? [] : [{ ...rule, resources: [resource], verbs }];
    }),
  );
  const group = ["apis", "rbac.authorization.k8s.io", "v1"];
  await cluster.create([...group, "clusterroles"], { metadata: { name }, rules });
  await cluster.create([...group, "clusterrolebindings"], {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: "berth-front", namespace }],
  });
  return accountConfig(cluster, namespace, "berth-front");
}
