import type { Logger } from "pino";
import type { ConfigStatus } from "../api/schemas.ts";
import type { AuthSpec } from "../auth/auth-spec.ts";
import type { Broker } from "../broker/broker.ts";
import { NotLeader } from "../broker/broker-contract.ts";
import { type BoskosExpiry, withExpiry } from "../config/check-pools.ts";
import { formatProblem, formatWarning } from "../config/document.ts";
import { loadConfig, type WatchedSecrets } from "../config/load.ts";
import type { ParsedConfig } from "../config/parse.ts";
import type { AdmissionSpec } from "../config/read-admission.ts";
import type { FrontSpec } from "../config/read-caas.ts";
import { type HubPlace, specOfHub } from "../config/read-hubs.ts";
import type { JanitorSpec } from "../config/read-janitor.ts";
import type { MirrorSpec } from "../config/read-mirror.ts";
import type { TemplateSpec } from "../config/template-spec.ts";
import { type ConfigWatch, watchConfig } from "../config/watch.ts";
import { unlistedResources } from "../core/decide/configure.ts";
import type { Origin } from "../core/model/origin.ts";
import type { PoolSpec } from "../core/model/policy.ts";
import { CannotServe, exitCodes } from "./cannot-serve.ts";

export interface ConfigRules {
  /** After how long without an update the resources of a Boskos file expire; absent: never. */
  readonly expiry?: BoskosExpiry | undefined;
  /** True: a file without `auth` is refused. */
  readonly mustHaveAuth?: boolean;
  /** The Secrets of Kubernetes behind templates; absent: another process makes the clusters. */
  readonly secrets?: WatchedSecrets | undefined;
}

/**
 * The configuration that the broker uses, and its file. If the file is invalid at the start, the
 * server does not start. If it becomes invalid later, it is rejected, and the previous
 * configuration stays.
 */
export class ConfigInForce {
  readonly #file: string;
  readonly #broker: Broker;
  readonly #logger: Logger;
  readonly #rules: ConfigRules;
  #status: ConfigStatus;
  #janitors: readonly JanitorSpec[] = [];
  #templates: readonly TemplateSpec[] = [];
  #hubs: readonly HubPlace[] = [];
  #mirror: MirrorSpec | undefined;
  #admissions: readonly AdmissionSpec[] = [];
  #fronts: readonly FrontSpec[] = [];
  #auth: AuthSpec | undefined;
  /** Called before a new configuration is applied: clusters may be planned from it at once. */
  beforeChange = (_: { templates: readonly TemplateSpec[]; hubs: readonly HubPlace[] }): void => {};
  /** Called each time a new configuration is applied. */
  onChange = (): void => {};
  #watch: ConfigWatch | undefined;
  /** A valid configuration that the broker does not have yet: another server leads, or a disk fails. */
  #waiting: ParsedConfig | undefined;
  /** Reloads run one after the other, in the order of the calls. */
  #reloading: Promise<void> = Promise.resolve();

  private constructor(file: string, broker: Broker, logger: Logger, rules: ConfigRules) {
    this.#file = file;
    this.#broker = broker;
    this.#logger = logger;
    this.#rules = rules;
    const now = new Date().toISOString();
    this.#status = {
      file,
      ok: true,
      inForceSince: now,
      checkedAt: now,
      pools: 0,
      resources: 0,
      problems: [],
      warnings: [],
    };
  }

  static async start(
    file: string,
    broker: Broker,
    logger: Logger,
    rules: ConfigRules = {},
  ): Promise<ConfigInForce> {
    const config = new ConfigInForce(file, broker, logger, rules);
    const { secrets } = rules;
    config.#watch = await watchConfig(file, (parsed) => config.#queue(parsed), { secrets });
    const parsed = config.#checked(await loadConfig(file, secrets));
    if (!parsed.ok) {
      await config.close();
      throw new CannotServe(
        parsed.problems.map(formatProblem).join("\n"),
        `Fix the file, then check it with: berth config check ${file}`,
        exitCodes.configuration,
      );
    }
    await config.#use(parsed);
    return config;
  }

  get status(): ConfigStatus {
    return this.#status;
  }

  /** How to clean dirty resources. */
  get janitors(): readonly JanitorSpec[] {
    return this.#janitors;
  }

  /** How clusters are made. */
  get templates(): readonly TemplateSpec[] {
    return this.#templates;
  }

  /** Where clusters are made. */
  get hubs(): readonly HubPlace[] {
    return this.#hubs;
  }

  /** The admission checks of the pools. */
  get admissions(): readonly AdmissionSpec[] {
    return this.#admissions;
  }

  /** Where to mirror leases as Kubernetes objects. */
  get mirror(): MirrorSpec | undefined {
    return this.#mirror;
  }

  /** API servers whose objects become requests. */
  get fronts(): readonly FrontSpec[] {
    return this.#fronts;
  }

  /** Who may call the server. */
  get auth(): AuthSpec | undefined {
    return this.#auth;
  }

  /** Reads the file again even if it has not changed, for SIGHUP. */
  async reload(): Promise<void> {
    this.#queue(await loadConfig(this.#file, this.#rules.secrets));
    await this.#reloading;
  }

  /** The journal is writable again, so a configuration that could not be applied is tried again. */
  retry(): void {
    if (this.#waiting !== undefined) this.#queue(this.#waiting);
  }

  async close(): Promise<void> {
    await this.#watch?.close();
    await this.#reloading;
  }

  #queue(parsed: ParsedConfig): void {
    this.#reloading = this.#reloading
      .then(() => this.#use(parsed))
      .catch((cause: unknown) => {
        this.#waiting = parsed;
        this.#status = {
          ...this.#status,
          ok: false,
          checkedAt: new Date().toISOString(),
          problems: [String(cause)],
        };
        this.#logger.error(
          { err: cause, file: this.#file },
          "the new configuration could not be put in force",
        );
      });
  }

  /** A file without `auth` must not open a server that other machines can reach. */
  #checked(parsed: ParsedConfig): ParsedConfig {
    if (!parsed.ok || parsed.auth !== undefined) return parsed;
    if (!this.#rules.mustHaveAuth && this.#auth === undefined) return parsed;
    const message = this.#rules.mustHaveAuth
      ? "Cannot use the file: it has no auth, and other machines reach the server"
      : "Cannot use the file: it has no auth, and the file before it had";
    const hint = this.#rules.mustHaveAuth
      ? "write auth, or start the server with --insecure-listen"
      : "write auth; to do without it, restart the server";
    const place = { file: this.#file, line: 0, column: 0, path: "auth" };
    return { ok: false, problems: [{ ...place, message, hint }] };
  }

  async #lendBy(parsed: Extract<ParsedConfig, { ok: true }>): Promise<void> {
    this.beforeChange(parsed);
    if (this.#broker.mode === "standby") return;
    const { pools } = withExpiry(parsed, this.#rules.expiry);
    await removeInSteps(this.#broker, pools);
    const { spaces, priorities } = parsed;
    const hubs = parsed.hubs.map(specOfHub);
    const configure = { type: "configure", pools, spaces, priorities, hubs } as const;
    await this.#broker.submit(configure, fromFile);
  }

  async #use(read: ParsedConfig): Promise<void> {
    const parsed = this.#checked(read);
    const now = new Date().toISOString();
    this.#waiting = undefined;
    if (!parsed.ok) {
      const problems = parsed.problems.map(formatProblem);
      this.#status = { ...this.#status, ok: false, checkedAt: now, problems };
      this.#logger.error(
        { file: this.#file, problems },
        "the new configuration is refused, the old one stays in force",
      );
      return;
    }
    // The server that leads uses its own file. This one uses the rest of it until it leads.
    if (this.#broker.mode === "standby") this.#waiting = read;
    try {
      await this.#lendBy(parsed);
    } catch (cause) {
      // Another server has begun to lead, so this one uses the file as one that follows.
      if (cause instanceof NotLeader) return await this.#use(read);
      // A token that was taken away is refused at once, also if the disk is full.
      this.#auth = parsed.auth;
      this.onChange();
      throw cause;
    }
    this.#janitors = parsed.janitors;
    this.#templates = parsed.templates;
    this.#hubs = parsed.hubs;
    this.#mirror = parsed.mirror;
    this.#admissions = parsed.admissions;
    this.#fronts = parsed.fronts;
    this.#auth = parsed.auth;
    this.onChange();
    const pools = parsed.pools.length;
    const resources = parsed.pools.reduce((sum, { members }) => sum + members.length, 0);
    const warnings = parsed.warnings.map(formatWarning);
    if (this.#rules.expiry !== undefined && parsed.format !== "boskos") warnings.push(expiryUnused);
    this.#status = {
      file: this.#file,
      ok: true,
      inForceSince: now,
      checkedAt: now,
      pools,
      resources,
      problems: [],
      warnings,
      profiles: [...parsed.profiles],
    };
    for (const warning of warnings) this.#logger.warn(warning);
    this.#logger.info({ file: this.#file, pools, resources }, "configuration in force");
  }
}

const fromFile: Origin = { way: "config" };

const expiryUnused =
  "--boskos-expire changes nothing: the file is in Berth's own form (write silence in its pools)";

/** A step takes a few milliseconds. Other commands are decided between two steps. */
const removedPerStep = 2_000;

/** Removing a million resources in one decision stopped the server for seconds. */
async function removeInSteps(
  broker: Pick<Broker, "read" | "submit">,
  pools: readonly PoolSpec[],
): Promise<void> {
  const names = await broker.read((state) => unlistedResources(state, pools));
  // The last step is left to `configure`.
  for (let from = 0; from + removedPerStep < names.length; from += removedPerStep) {
    const step = names.slice(from, from + removedPerStep);
    await broker.submit({ type: "remove-resources", names: step }, fromFile);
  }
}
