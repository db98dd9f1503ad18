/** A broker with pools of clusters, a provisioner, and a driver program that a test scripts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import { Broker } from "../../broker/broker.ts";
import { SystemEnvironment } from "../../broker/environment.ts";
import { newRequestId } from "../../broker/lease-identity.ts";
import type { TemplateSpec } from "../../config/template-spec.ts";
import { pool } from "../../core/decide/lending.suite.ts";
import { type ClusterPolicy, defaultPhaseLimits } from "../../core/model/cluster.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import type { ExclusiveResource } from "../../core/model/state.ts";
import { ScriptedWorld, scriptedProgram } from "../../drivers/command/scripted-world.suite.ts";
import type { AccessBundle } from "../../drivers/driver.ts";
import { externalName } from "../../drivers/names.ts";
import type { Journal } from "../../journal/journal.ts";
import { MemoryJournal } from "../../journal/memory.ts";
import { CredentialChecks } from "../../vault/credential-checks.ts";
import { BrokerWork } from "./broker-work.ts";
import type { ClusterStores } from "./cluster-stores.ts";
import type { SpaceCredentials } from "./cluster-work.ts";
import type { Orphan } from "./orphan-search.ts";
import { Provisioner, type ProvisionerOptions } from "./provisioner.ts";

/** Tests wait for what must happen; nothing is a matter of time. */
const patienceMs = 40_000;

export class ScriptedSite implements AsyncDisposable {
  readonly world: ScriptedWorld;
  readonly folder: string;
  readonly access = new Map<string, AccessBundle>();
  readonly logs: { instance: string; why: string; text: string }[] = [];
  readonly lost: string[] = [];
  readonly orphans: Orphan[] = [];
  readonly errors: unknown[] = [];
  /** What the provisioner has reported last. */
  unusable: readonly UnusableTemplate[] = [];
  readonly checks = new CredentialChecks();
  /** What spaces have stored. */
  readonly credentials: SpaceCredentials[] = [];
  readonly #journal: Journal = new MemoryJournal();
  #broker: Broker | undefined;
  #provisioner: Provisioner | undefined;
  #templates: readonly TemplateSpec[] = [];
  #leases = 0;

  private constructor(world: ScriptedWorld, folder: string) {
    this.world = world;
    this.folder = folder;
  }

  static async open(): Promise<ScriptedSite> {
    const folder = await mkdtemp(join(tmpdir(), "berth-provisioner-"));
    const site = new ScriptedSite(await ScriptedWorld.open(), folder);
    site.#broker = await Broker.open(site.#journal, (at) => new SystemEnvironment(at));
    return site;
  }

  get broker(): Broker {
    if (this.#broker === undefined) throw new Error("The broker is closed");
    return this.#broker;
  }

  get provisioner(): Provisioner {
    if (this.#provisioner === undefined) throw new Error("There is no provisioner");
    return this.#provisioner;
  }

  template(more: Partial<TemplateSpec> = {}): TemplateSpec {
    return {
      ...{ name: "small", revision: "r1", parameters: {}, pinned: {}, credentials: {} },
      ...{ ownCredentials: null, cost: 1, limits: defaultPhaseLimits, hibernates: true },
      ...{ orphans: "report", validates: false },
      how: {
        ...{ driver: "command", command: [scriptedProgram], folder: this.folder },
        ...{ env: { WORLD: this.world.folder }, timeoutMs: 20_000 },
      },
      ...more,
    };
  }

  /** Configures one pool, `kube`, with or without its template, and starts the provisioner or changes its templates. */
  async configure(
    cluster: Partial<ClusterPolicy>,
    template: TemplateSpec | null = this.template(),
    options: ProvisionerOptions = {},
    { isStarted = true } = {},
  ): Promise<void> {
    this.#templates = template === null ? [] : [template];
    this.#provisioner?.configure({ templates: this.#templates });
    const usual = {
      ...{ template: "small", size: 0, running: 0, parameters: {}, hibernates: true },
      ...{ revision: template?.revision ?? "r1", limits: template?.limits ?? defaultPhaseLimits },
    };
    const policy = { lockDelayMs: 0, cluster: { ...usual, ...cluster } };
    await this.broker.submit({ type: "configure", pools: [pool("kube", 0, policy)] });
    if (this.#provisioner === undefined && isStarted) this.start(options);
  }

  /** `isAlone`: one that died before it has left its leases. */
  work({ isAlone }: { readonly isAlone: boolean }): BrokerWork {
    const stores: ClusterStores = {
      putAccess: async (instance, bundle) => void this.access.set(instance, bundle),
      putLogs: ({ instance }, why, text) => void this.logs.push({ instance, why, text }),
      openCredentials: async () => ({ OWN: "own-credential-value" }),
      putHubClusters: async () => undefined,
      putUnusable: (templates) => {
        this.unusable = templates;
      },
      credentialsNamed: async () => this.credentials,
      checks: this.checks,
    };
    return new BrokerWork(this.broker, stores, { isAlone });
  }

  start(options: ProvisionerOptions = {}, work = this.work({ isAlone: true })): void {
    this.#provisioner = new Provisioner(
      work,
      { templates: this.#templates },
      {
        ...{ sweepMs: 3_600_000, orphanSearchMs: 3_600_000, folder: this.folder },
        lost: ({ resource }, why) => void this.lost.push(`${resource}: ${why}`),
        orphan: (orphan) => void this.orphans.push(orphan),
        retrying: (cause) => void this.errors.push(cause),
        ...options,
      },
    );
  }

  async stop(): Promise<void> {
    await this.#provisioner?.stop();
    this.#provisioner = undefined;
  }

  clusters(): Promise<readonly ExclusiveResource[]> {
    return this.broker.read(({ pools }) =>
      [...(pools.get("kube" as PoolName)?.members.values() ?? [])].filter(
        (each): each is ExclusiveResource => each.sharing === "exclusive",
      ),
    );
  }

  /** All events so far, as text. */
  async journalled(): Promise<string> {
    let text = "";
    for await (const commit of this.#journal.read(0)) text += JSON.stringify(commit);
    return text;
  }

  /** `kube-1 free, kube-2 hibernated` */
  async stock(): Promise<string> {
    const all = await this.clusters();
    return all.map(({ name, state }) => `${name} ${state}`).join(", ");
  }

  async until(look: () => Promise<unknown> | unknown, expected: unknown): Promise<void> {
    await expect.poll(look, { timeout: patienceMs, interval: 20 }).toEqual(expected);
  }

  untilStock(expected: string): Promise<void> {
    return this.until(() => this.stock(), expected);
  }

  async cluster(name: string) {
    const found = (await this.clusters()).find((each) => each.name === name);
    if (found?.cluster === undefined || found.cluster === null) {
      throw new Error(`Cannot find ${name}`);
    }
    const { state, note, failures, cluster } = found;
    return { state, note, failures, external: externalName(cluster.instance), ...cluster };
  }

  /** Asks for a cluster and waits in the queue if there is none. */
  async ask(): Promise<RequestId> {
    const id = newRequestId(this.broker.now());
    this.#leases += 1;
    const items = [{ pool: "kube" as PoolName, count: 1 }];
    const ask = { holder: `job-${this.#leases}`, items, ttlMs: 3_600_000 };
    await this.broker.submit({ type: "acquire", id, ask, waitMs: 3_600_000 });
    return id;
  }

  /** The cluster of a lease, once it has one. */
  async lent(id: RequestId): Promise<string> {
    const held = () =>
      this.broker.read(({ leases }) => leases.get(id)?.claims[0]?.resource.name ?? "none");
    await expect.poll(held, { timeout: patienceMs, interval: 20 }).not.toBe("none");
    return held();
  }

  async release(id: RequestId): Promise<void> {
    await this.broker.submit({ type: "release", id });
  }

  async destroy(name: string): Promise<void> {
    const reason = { by: "ann", why: "test" };
    const resource = name as ResourceName;
    await this.broker.submit({ type: "cluster-destroy", resource, reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#broker?.close();
    await this.world[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
