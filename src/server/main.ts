/**
 * Connects all parts: configuration, journal, broker and edges, which start and stop in this order.
 */
import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import type { ConfigStatus } from "../api/schemas.ts";
import { Authenticator } from "../auth/authenticator.ts";
import { Sessions } from "../auth/sessions.ts";
import { SignIn } from "../auth/sign-in/sign-in.ts";
import { Broker } from "../broker/broker.ts";
import { SystemEnvironment } from "../broker/environment.ts";
import { Tokens } from "../broker/lease-identity.ts";
import { Deliveries } from "../broker/submit-and-wait.ts";
import type { BoskosExpiry } from "../config/check-pools.ts";
import { exampleConfigPath } from "../config/example.ts";
import type { Instant } from "../core/model/time.ts";
import { makeApp } from "../http/app.ts";
import { HubClusters } from "../http/clusters/hub-clusters.ts";
import { TemplateReports } from "../http/clusters/template-reports.ts";
import {
  type App,
  type BoskosSettings,
  type Context,
  defaultBoskosSettings,
} from "../http/context.ts";
import { Proxies } from "../http/proxies.ts";
import { StatsService } from "../insight/stats-service.ts";
import {
  type Journal,
  JournalDamaged,
  JournalUnavailable,
  JournalUnusable,
} from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { SqliteJournal } from "../journal/sqlite.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { Redactor } from "../vault/redactor.ts";
import { advertisedUrl } from "./advertised-url.ts";
import { CannotServe, exitCodes } from "./cannot-serve.ts";
import { ClockWatch } from "./clock-watch.ts";
import { ConfigInForce } from "./config-in-force.ts";
import {
  addressThatNeedsAuth,
  allowedCallers,
  checkReachable,
  exposureWarnings,
} from "./exposure.ts";
import { HealthListener } from "./health-listener.ts";
import {
  describeListenError,
  type ListenAddress,
  parseListenAddress,
  urlOf,
} from "./listen-address.ts";
import { type LogLevel, makeLogger } from "./logger.ts";
import { frontParts } from "./server-fronts.ts";
import { type ProvisionerParts, templateInfo, watchedSecrets } from "./server-provisioner.ts";
import { ServerReplica } from "./server-replica.ts";
import { ServerVault } from "./server-vault.ts";
import { answerText, onlyPath, SideListener } from "./side-listener.ts";
import { SilentConnections } from "./silent-connections.ts";
import { Tls } from "./tls.ts";
import type { TlsPaths } from "./tls-files.ts";
import { tracesWanted } from "./traces-wanted.ts";
import { logIssuers, logSignIn } from "./worker-logs.ts";
import { Workers } from "./workers.ts";

export interface ServeOptions {
  /** Absent: the example that is part of Berth. */
  readonly config?: string;
  readonly data: string;
  /** The address of a journal in PostgreSQL, which other servers share; absent: in the data folder. */
  readonly journal?: string;
  /** Where the other servers on that journal reach this one; absent: where it listens. */
  readonly advertise?: string;
  /** Keep nothing on disk. */
  readonly memory: boolean;
  /** HOST:PORT */
  readonly listen: string;
  /** Listen beyond loopback although there is no authentication. */
  readonly insecureListen: boolean;
  /** Files of the server's certificate; absent: plain HTTP. */
  readonly tls?: TlsPaths;
  /** Addresses and networks of proxies whose headers name the caller; absent: there are none. */
  readonly trustProxies?: readonly string[];
  /** Names under which clients may call the server, in addition to loopback and `listen`. */
  readonly allowHosts?: readonly string[];
  /** The address that people use, as an origin: `https://berth.example.org`. */
  readonly publicUrl?: string;
  /** HOST:PORT for probes that expect health on a separate port; absent: none. */
  readonly healthListen?: string;
  /** HOST:PORT for scrapers that expect metrics on a separate port; absent: none. */
  readonly metricsListen?: string;
  /** False: a janitor in another process cleans dirty resources. */
  readonly janitor?: boolean;
  /** False: a provisioner in another process makes and destroys clusters. */
  readonly provisioner?: boolean;
  readonly logLevel: LogLevel;
  /** After how long without an update the resources of a Boskos file expire; absent: never. */
  readonly boskosExpiry?: BoskosExpiry;
  /** How long a Boskos client that polls keeps its place in the queue between two polls. */
  readonly requestTtlMs?: number;
  /** How long the server may keep a Boskos acquire open; 0: it answers at once. */
  readonly boskosWaitMs?: number;
  /** How long events stay in the journal. */
  readonly journalRetentionMs?: number;
  /** The oldest events are pruned earlier if the journal has more bytes than this. */
  readonly journalBytesMax?: number;
  /** How long finished requests and leases stay in the history. */
  readonly historyRetentionMs?: number;
  /** How long entries stay in the audit. */
  readonly auditRetentionMs?: number;
  /** Delete the history file and build it again from the journal. */
  readonly rebuildHistory?: boolean;
  /** The file with the keys of the vault; absent: in the data folder. */
  readonly vaultKey?: string;
}

export interface Running {
  readonly url: string;
  readonly healthUrl?: string;
  readonly metricsUrl?: string;
  readonly configFile: string;
  readonly pools: number;
  readonly resources: number;
  reload(): Promise<void>;
  /** Answers open calls, makes everything durable and releases the lock on the data folder. */
  stop(): Promise<void>;
  /** Rejects on a fatal error; otherwise resolves when the server has stopped. */
  readonly stopped: Promise<void>;
}

/** How long open calls may take when the server stops. */
const stopMsMax = 5_000;
/** What a caller has sent just before the stop is read first. */
const silentMs = 50;
/** How long the other servers may take to learn that this one leads no more. */
const handedOverMs = 250;
/** How long a server that leads waits for its workers before it hands the lead over. */
const workersMsMax = 100;

export async function serve(options: ServeOptions): Promise<Running> {
  const address = parseListenAddress(options.listen);
  const configFile = options.config ?? exampleConfigPath;
  const needsAuth = addressThatNeedsAuth(options);
  if (needsAuth !== undefined) await checkReachable(configFile, needsAuth);
  const redactor = new Redactor();
  const logger = makeLogger(options.logLevel, undefined, redactor);
  const server = new Server(configFile, logger, redactor);
  try {
    return await server.start(options, address);
  } catch (error) {
    await server.stop();
    throw cannotServe(error, options);
  }
}

/** The parts of a server that have started so far, so that these can be stopped. */
class Server {
  readonly #hubClusters = new HubClusters();
  readonly #templateReports = new TemplateReports();
  readonly #configFile: string;
  readonly #logger: Logger;
  readonly #redactor: Redactor;
  readonly #ended = Promise.withResolvers<void>();
  #journal: Journal | undefined;
  #vault: ServerVault | undefined;
  #broker: Broker | undefined;
  #insight: StatsService | undefined;
  #config: ConfigInForce | undefined;
  #app: App | undefined;
  #silent: SilentConnections | undefined;
  #health: HealthListener | undefined;
  #metrics: SideListener | undefined;
  #replica: ServerReplica | undefined;
  #workers: Workers | undefined;
  #clock: ClockWatch | undefined;
  #tls: Tls | undefined;
  #tracing: Tracing | undefined;
  #ready = false;

  constructor(configFile: string, logger: Logger, redactor: Redactor) {
    this.#configFile = configFile;
    this.#logger = logger;
    this.#redactor = redactor;
    this.#ended.promise.catch(() => {}); // Callers who want the error use `stopped`.
  }

  async start(options: ServeOptions, address: ListenAddress): Promise<Running> {
    if (options.tls !== undefined) this.#tls = await Tls.start(options.tls, this.#logger);
    await this.#listenAside(options);
    const berthVersion = await version();
    const journal = await this.#openJournal(options, berthVersion);
    this.#journal = journal;
    const vault = this.#openVault(options);
    const broker = await this.#openBroker(journal, options);
    this.#tracing = await startTracing(broker, journal, berthVersion, this.#logger);
    this.#logJournal(broker, options);
    const config = await this.#startConfig(broker, vault, options);
    const insight = this.#openInsight(journal, broker, options);
    const replica = this.#replica;
    const workers = new Workers(broker, this.#logger, {
      ...{ cleans: options.janitor ?? true, provisions: this.#provisions(options, vault) },
      fronts: frontParts({
        ...{ broker, ...vault.parts, secret: journal.secret },
        templates: () => config.templates,
      }),
    });
    this.#workers = workers;
    if (replica === undefined) workers.start(config);
    const auth = new Authenticator(config.auth, Date.now, logIssuers(this.#logger));
    this.#logExposure(options);
    config.beforeChange = (next) => workers.prepare(next);
    config.onChange = () => {
      auth.configure(config.auth);
      this.#logExposure(options);
      workers.configure(config);
    };
    const site = {
      broker,
      journal,
      tokens: new Tokens(journal.secret),
      auth,
      sessions: new Sessions(journal.secret),
      signIn: new SignIn(auth, journal.secret, Date.now, logSignIn(this.#logger)),
      deliveries: new Deliveries(broker),
      insight,
      ...{ ...vault.parts, hubClusters: this.#hubClusters, templateReports: this.#templateReports },
      templates: () => config.templates.map(templateInfo),
      configStatus: () => this.#withWarnings(config.status, options),
      clockAheadMs: () => this.#clock?.aheadMs ?? 0,
      mirror: () => workers.mirrorFigures,
      admission: () => workers.admissionFigures,
      troubles: () => workers.troubles,
      version: berthVersion,
      isTraced: this.#tracing !== undefined,
      boskos: boskosSettings(options),
      startedAtMs: Date.now(),
      callers: allowedCallers(options),
      ...(options.publicUrl && { publicUrl: options.publicUrl }),
      ...(options.trustProxies && { proxies: new Proxies(options.trustProxies) }),
      ...(replica && { peers: replica.peers, isReady: () => replica.isReady }),
    };
    vault.follow(broker);
    const app = await this.#listen(site, address);
    replica?.start(broker, advertisedUrl(options, urlOf(app.server)), (isLeading) => {
      if (isLeading) workers.start(config);
      else void workers.stop();
      this.#reportReady();
    });
    broker.startExpiry();
    this.#ready = true;
    this.#reportReady();
    return this.#running(app, config.status);
  }

  async #startConfig(
    broker: Broker,
    vault: ServerVault,
    options: ServeOptions,
  ): Promise<ConfigInForce> {
    const config = await ConfigInForce.start(this.#configFile, broker, this.#logger, {
      expiry: options.boskosExpiry,
      mustHaveAuth: addressThatNeedsAuth(options) !== undefined,
      secrets: options.provisioner === false ? undefined : watchedSecrets(vault, this.#logger),
    });
    this.#config = config;
    return config;
  }

  #running(app: App, { pools, resources }: ConfigStatus): Running {
    return {
      url: urlOf(app.server),
      ...(this.#health && { healthUrl: this.#health.url }),
      ...(this.#metrics && { metricsUrl: this.#metrics.url }),
      configFile: this.#configFile,
      pools,
      resources,
      reload: () => this.#reload(),
      stop: () => this.stop(),
      stopped: this.#ended.promise,
    };
  }

  #openVault(options: ServeOptions): ServerVault {
    const vault = new ServerVault(options, this.#redactor, this.#logger, this.#replica?.secrets);
    this.#vault = vault;
    return vault;
  }

  #logJournal({ head }: Broker, { memory, data }: ServeOptions): void {
    const where = this.#replica?.journal.name ?? (memory ? "memory" : data);
    this.#logger.info({ events: head, data: where }, "journal read");
  }

  #provisions(
    { provisioner, memory, data }: ServeOptions,
    vault: ServerVault,
  ): ProvisionerParts | undefined {
    if (provisioner === false) return undefined;
    const folder = memory ? undefined : data;
    const isAlone = this.#replica === undefined;
    const found = { hubClusters: this.#hubClusters, templateReports: this.#templateReports };
    const stores = { ...vault.parts, ...found };
    return { ...stores, logger: this.#logger, folder, isAlone };
  }

  async #openJournal(options: ServeOptions, version: string): Promise<Journal> {
    const { journal: address, data, memory } = options;
    if (memory) return new MemoryJournal();
    if (address !== undefined) {
      this.#replica = await ServerReplica.open({ address, data, version }, this.#logger);
      return this.#replica.journal;
    }
    return SqliteJournal.open(data, { warn: (message) => this.#logger.error(message) });
  }

  async #listen(site: Context, address: ListenAddress): Promise<App> {
    const tls = this.#tls;
    const app = await makeApp(site, this.#logger, tls && ((answer) => tls.createServer(answer)));
    this.#app = app;
    this.#silent = new SilentConnections(app.server);
    const listenTextResolver = (url: string) =>
      `listening at ${tls === undefined ? url : url.replace(/^http:/, "https:")}`;
    await app.listen({ ...address, listenTextResolver });
    return app;
  }

  async #reload(): Promise<void> {
    await Promise.all([this.#config?.reload(), this.#tls?.reload()]);
  }

  async stop(): Promise<void> {
    this.#ready = false;
    this.#reportReady();
    const filesEnd = Promise.all([this.#config?.close(), this.#tls?.close()]);
    // A replica hands the lead over first of all: others wait for it.
    if (this.#replica === undefined) await filesEnd;
    // The broker must still accept releases here. Other servers do not wait for long.
    const workersEnd = this.#workers?.stop();
    const late = setTimeout(workersMsMax, undefined, { ref: false });
    await (this.#replica === undefined ? workersEnd : Promise.race([workersEnd, late]));
    await this.#replica?.handOver();
    await Promise.all([workersEnd, filesEnd]);
    // The others may still send calls on the connections that this closes.
    if (this.#replica !== undefined) await setTimeout(handedOverMs);
    // Both run together: `app` stops listening, and the broker answers the open long polls.
    // Connections with an incomplete request are closed after a while.
    const closeTimer = global.setTimeout(() => {
      this.#app?.server.closeAllConnections();
    }, stopMsMax);
    const silentTimer = global.setInterval(() => this.#silent?.close(), silentMs);
    await Promise.all([this.#app?.close(), this.#broker?.close()]);
    clearTimeout(closeTimer);
    clearInterval(silentTimer);
    await Promise.all([this.#health?.close(), this.#metrics?.close()]);
    await this.#insight?.close();
    await this.#vault?.close();
    await this.#journal?.close();
    await this.#replica?.close();
    await this.#tracing?.close();
    this.#clock?.stop();
    this.#logger.info("stopped");
    this.#ended.resolve();
  }

  #withWarnings(status: ConfigStatus, options: ServeOptions): ConfigStatus {
    const { warnings: own } = status;
    const warnings = [...own, ...(this.#clock?.warnings ?? []), ...(this.#tls?.warnings ?? [])];
    return { ...status, warnings: [...warnings, ...this.#exposureWarnings(options)] };
  }

  #exposureWarnings(options: ServeOptions): readonly string[] {
    return exposureWarnings(options, this.#config?.auth);
  }

  #logExposure(options: ServeOptions): void {
    for (const warning of this.#exposureWarnings(options)) this.#logger.warn(warning);
  }

  /** Starts first, so that a probe finds a living process while the server reads the journal. */
  async #listenAside(options: ServeOptions): Promise<void> {
    const { healthListen, metricsListen } = options;
    const health = healthListen && parseListenAddress(healthListen);
    const metrics = metricsListen && parseListenAddress(metricsListen);
    if (health) {
      this.#health = await HealthListener.start("--health-listen", health);
      this.#logger.info(`health at ${this.#health.url}/healthz`);
    }
    if (metrics) {
      const answers = onlyPath("/metrics", (request, response) => {
        if (this.#app !== undefined) return this.#app.routing(request, response);
        answerText(response, 503, "the server is starting\n");
      });
      // Scrapers send a token, so that the metrics need TLS as well. Probes send nothing.
      const tls = this.#tls;
      const makeServer = tls && ((answer: RequestListener) => tls.createServer(answer));
      this.#metrics = await SideListener.start("--metrics-listen", metrics, answers, makeServer);
      this.#logger.info(`metrics at ${this.#metrics.url}/metrics`);
    }
  }

  #reportReady(): void {
    const broker = this.#broker;
    const isServing = this.#replica?.isReady ?? broker?.unwritable === null;
    this.#health?.setReady(this.#ready && broker?.stoppedBy === null && isServing);
  }

  #openInsight(journal: Journal, broker: Broker, options: ServeOptions): StatsService {
    const { data, memory, historyRetentionMs: retentionMs, rebuildHistory: anew } = options;
    this.#insight = new StatsService(journal, broker, {
      ...(memory ? undefined : { folder: data }),
      journalElsewhere: this.#replica !== undefined,
      retentionMs,
      auditRetentionMs: options.auditRetentionMs,
      anew,
      moved: (entries) => this.#logger.info({ entries }, "history moved to its own file"),
      failed: (what, err) => this.#logger.error({ err }, `${what} failed; the server tries again`),
      anchor: (anchor) => this.#logger.info({ anchor }, "audit: the last entry"),
    });
    return this.#insight;
  }

  async #openBroker(journal: Journal, options: ServeOptions): Promise<Broker> {
    const { journalRetentionMs: retentionMs, journalBytesMax } = options;
    const startClock = (notBefore: Instant): SystemEnvironment => {
      const environment = new SystemEnvironment(notBefore, this.#replica?.clocks);
      this.#clock = new ClockWatch(environment, this.#logger);
      return environment;
    };
    const broker = await Broker.open(journal, startClock, {
      // This process has locked the folder, so another writer means that the journal cannot be
      // trusted.
      onConflict: () => "end",
      // No heartbeat can arrive before the server listens.
      delayExpiry: true,
      ...(retentionMs === undefined ? undefined : { retentionMs }),
      ...(journalBytesMax === undefined ? undefined : { journalBytesMax }),
      ...this.#replica?.brokerOptions,
    });
    this.#broker = broker;
    await this.#clock?.checkStart(broker);
    broker.listen({
      writable: (cause) => {
        this.#reportReady();
        if (broker.mode === "standby") return; // It follows another server.
        this.#insight?.noteJournal(cause === null);
        if (cause !== null) {
          this.#logger.error({ err: cause }, "the journal is not writable; the server tries again");
          return;
        }
        if (this.#replica === undefined) this.#logger.info("the journal is writable again");
        this.#config?.retry();
      },
      failed: (what, err) => this.#logger.error({ err }, `${what} failed`),
      fatal: (cause) => this.#die(cause),
    });
    return broker;
  }

  /** The broker has stopped, so the server must stop too. */
  #die(cause: Error): void {
    this.#logger.fatal({ err: cause }, "fatal error: the server stops");
    const hint = hintOf(cause) ?? "Restart the server";
    this.#ended.reject(new CannotServe(cause.message, hint, exitCodes.unavailable, cause));
    void this.stop();
  }
}

function boskosSettings({ requestTtlMs, boskosWaitMs }: ServeOptions): BoskosSettings {
  return {
    requestTtlMs: requestTtlMs ?? defaultBoskosSettings.requestTtlMs,
    waitMs: boskosWaitMs ?? defaultBoskosSettings.waitMs,
  };
}

/** Loaded here, because most servers export no traces. */
async function startTracing(
  broker: Broker,
  journal: Journal,
  version: string,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (!tracesWanted(process.env)) return undefined;
  const { Tracing } = await import("../tracing/tracing.ts");
  const tracing = new Tracing(version, logger);
  tracing.follow(broker, journal);
  return tracing;
}

/** Errors that a person can fix get a message and a hint. Any other error is a bug. */
function cannotServe(error: unknown, { listen, data }: ServeOptions): unknown {
  const because = (message: string, hint: string, code: number = exitCodes.unavailable) =>
    new CannotServe(message, hint, code, error);
  const freeSpace = `Free space on the disk of "${data}", then start again`;
  if (error instanceof JournalUnusable) {
    const code = error.input === "wrong" ? exitCodes.usage : exitCodes.unavailable;
    return because(error.message, error.hint, code);
  }
  if (error instanceof JournalUnavailable) {
    return because(error.message, hintOf(error) ?? freeSpace);
  }
  if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
    return because(`Cannot write in the data folder "${data}": its disk is full`, freeSpace);
  }
  if (error instanceof JournalDamaged) {
    const check = `berth journal check --data ${data}`;
    return because(error.message, `List the damage with: ${check}; or restore a backup`);
  }
  const cause = describeListenError(error);
  if (cause === undefined) return error;
  return because(`Cannot listen on ${listen}: ${cause}`, "Choose another with --listen HOST:PORT");
}

function hintOf(error: Error): string | undefined {
  const known = error instanceof JournalUnusable || error instanceof JournalUnavailable;
  return known ? error.hint : undefined;
}

async function version(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return String((JSON.parse(text) as { version: unknown }).version);
}
