/**
 * A whole server for Boskos's clients, with a journal on disk and a clock in the test's hand, spoken
 * to over real sockets. It can be dropped as `kill -9` drops it, and goes on from its disk.
 */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import pino from "pino";
import { Authenticator } from "../../auth/authenticator.ts";
import { Sessions } from "../../auth/sessions.ts";
import { SignIn } from "../../auth/sign-in/sign-in.ts";
import { Broker } from "../../broker/broker.ts";
import type { BrokerOptions } from "../../broker/broker-contract.ts";
import { HandClock } from "../../broker/hand-clock.suite.ts";
import { Tokens } from "../../broker/lease-identity.ts";
import { Deliveries } from "../../broker/submit-and-wait.ts";
import type { ImportedResource } from "../../core/model/command.ts";
import type { PoolName, RequestId, ResourceName } from "../../core/model/ids.ts";
import { defaultPolicy, type PoolPolicy, type PoolSpec } from "../../core/model/policy.ts";
import { exclusiveClaim } from "../../core/model/state.ts";
import { ClusterLogs } from "../../evidence/cluster-logs.ts";
import { StatsService } from "../../insight/stats-service.ts";
import { makeDataFolder } from "../../journal/data-folder.ts";
import { SqliteJournal } from "../../journal/sqlite.ts";
import { Redactor } from "../../vault/redactor.ts";
import { storesIn } from "../../vault/secret-stores.ts";
import { SqliteVault } from "../../vault/sqlite-vault.ts";
import { makeApp } from "../app.ts";
import { HubClusters } from "../clusters/hub-clusters.ts";
import { TemplateReports } from "../clusters/template-reports.ts";
import { type App, type BoskosSettings, defaultBoskosSettings } from "../context.ts";
import { timestamp } from "../timestamp.ts";

export interface BoskosAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

export interface BoskosCall {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BoskosSiteOptions {
  /** `name:type/state/owner`, longest untouched first. An empty owner is nobody. */
  readonly seed?: readonly string[];
  readonly userData?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By type; types without resources may be named here too. */
  readonly policies?: Readonly<Record<string, Partial<PoolPolicy>>>;
  readonly boskos?: Partial<BoskosSettings>;
  readonly broker?: Partial<BrokerOptions>;
}

interface Seed {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  readonly owner: string;
}

export class BoskosSite implements AsyncDisposable {
  readonly clock = new HandClock();
  readonly #options: BoskosSiteOptions;
  readonly #lines: string[] = [];
  readonly #folders: string[] = [];
  #pools: readonly PoolSpec[];
  #journal: SqliteJournal | undefined;
  #insight: StatsService | undefined;
  #broker: Broker | undefined;
  #app: App | undefined;

  private constructor(options: BoskosSiteOptions) {
    this.#options = options;
    this.#pools = poolsOf(options);
  }

  static async start(options: BoskosSiteOptions = {}): Promise<BoskosSite> {
    const site = new BoskosSite(options);
    await site.#open(site.#newFolder());
    await site.broker.submit({ type: "import", resources: imported(options) });
    return site;
  }

  get broker(): Broker {
    if (this.#broker === undefined) throw new Error("Cannot use the site: it is closed");
    return this.#broker;
  }

  get app(): App {
    if (this.#app === undefined) throw new Error("Cannot use the site: it is closed");
    return this.#app;
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  /** Everything that was logged so far, before restarts too. */
  get log(): string {
    return this.#lines.join("");
  }

  /** `call("POST /acquire?type=t")`: the path goes out as it is written. */
  call(line: string, { body, headers = {} }: BoskosCall = {}): Promise<BoskosAnswer> {
    const space = line.indexOf(" ");
    const options = { method: line.slice(0, space), path: line.slice(space + 1), headers };
    return new Promise((resolve, reject) => {
      const call = request({ host: "127.0.0.1", port: this.port, agent: false, ...options });
      call.once("error", reject);
      call.once("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
        );
      });
      call.end(body);
    });
  }

  /** As after `kill -9`: what is on the disk at this moment is all that is left. */
  async restart(): Promise<void> {
    const old = this.#folders.at(-1) ?? "";
    await this.broker.read(() => {}); // No commit is under way.
    const folder = this.#newFolder();
    makeDataFolder(folder);
    for (const file of ["journal.db", "journal.db-wal"]) {
      if (existsSync(join(old, file))) copyFileSync(join(old, file), join(folder, file));
    }
    await this.#close();
    await this.#open(folder);
  }

  /** As after a stop in good order: with a snapshot. */
  async stopAndStart(): Promise<void> {
    await this.#close();
    await this.#open(this.#folders.at(-1) ?? "");
  }

  /** Another file is loaded. */
  async configure(options: Pick<BoskosSiteOptions, "seed" | "policies">): Promise<void> {
    this.#pools = poolsOf(options);
    await this.broker.submit({ type: "configure", pools: this.#pools });
  }

  /** All resources as seeds are written, by name. */
  stored(): Promise<string[]> {
    return this.broker.read(({ resources }) =>
      Array.from(resources.values(), (resource) => {
        const { name, pool, state } = resource;
        return `${name}:${pool.name}/${state}/${exclusiveClaim(resource)?.lease.ask.holder ?? ""}`;
      }).sort(),
    );
  }

  userData(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    return this.broker.read(({ resources }) => resources.get(name as ResourceName)?.userData);
  }

  /** When a resource was last updated, as a client would be told. */
  async lastUpdate(name: string): Promise<string> {
    return await this.broker.read(({ resources }) => {
      const resource = resources.get(name as ResourceName);
      if (resource === undefined) throw new Error(`Cannot look: there is no ${name}`);
      return timestamp(exclusiveClaim(resource)?.lease.seenAt ?? resource.changedAt);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }

  #newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "berth-boskos-"));
    this.#folders.push(folder);
    return folder;
  }

  async #open(folder: string): Promise<void> {
    const journal = SqliteJournal.open(folder);
    this.#journal = journal;
    const broker = await Broker.open(journal, () => this.clock, this.#options.broker);
    this.#broker = broker;
    await broker.submit({ type: "configure", pools: this.#pools });
    const since = timestamp(this.clock.now());
    const status = { file: null, ok: true, inForceSince: since, checkedAt: since };
    const config = { ...status, pools: 0, resources: 0, problems: [], warnings: [] };
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        this.#lines.push(String(chunk));
        done();
      },
    });
    const insight = new StatsService(journal, broker);
    this.#insight = insight;
    const auth = new Authenticator(undefined);
    const site = {
      ...{ broker, journal, tokens: new Tokens(journal.secret), version: "0.0.0" },
      deliveries: new Deliveries(broker),
      insight,
      configStatus: () => config,
      boskos: { ...defaultBoskosSettings, waitMs: 0, ...this.#options.boskos },
      startedAtMs: this.clock.now(),
      callers: { listens: ["127.0.0.1"], hosts: [] },
      auth,
      sessions: new Sessions(journal.secret),
      vault: storesIn(SqliteVault.inMemory(), new Redactor()),
      signIn: new SignIn(auth, journal.secret),
      templates: () => [],
      hubClusters: new HubClusters(),
      templateReports: new TemplateReports(),
      clusterLogs: ClusterLogs.inMemory(new Redactor()),
    };
    this.#app = await makeApp(site, pino({ level: "trace" }, sink));
    await this.#app.listen({ host: "127.0.0.1", port: 0 });
  }

  async #close(): Promise<void> {
    this.#app?.server.closeAllConnections();
    await Promise.all([this.#app?.close(), this.#broker?.close()]);
    await this.#insight?.close();
    await this.#journal?.close();
  }
}

function parseSeed(text: string): Seed {
  const [, name = "", type = "", state = "", owner = ""] =
    /^([^:]+):([^/]+)\/([^/]*)\/(.*)$/.exec(text) ?? [];
  if (name === "") throw new Error(`Cannot seed "${text}": it is not name:type/state/owner`);
  return { name, type, state, owner };
}

function poolsOf({ seed = [], policies = {} }: BoskosSiteOptions): PoolSpec[] {
  const seeds = seed.map(parseSeed);
  const types = new Set([...seeds.map(({ type }) => type), ...Object.keys(policies)]);
  return [...types].map((type) => ({
    name: type as PoolName,
    policy: { ...defaultPolicy, lockDelayMs: 0, ...policies[type] },
    members: seeds
      .filter((other) => other.type === type)
      .map(({ name }) => ({ name: name as ResourceName, labels: {} })),
  }));
}

function imported({ seed = [], userData = {} }: BoskosSiteOptions): ImportedResource[] {
  return seed.map(parseSeed).map(({ name, type, state, owner }, index) => ({
    name: name as ResourceName,
    pool: type as PoolName,
    state,
    holder: owner,
    id: `seed-${index}` as RequestId,
    userData: userData[name] ?? {},
  }));
}
