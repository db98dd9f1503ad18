/** The services that `berth run` offers while the command runs: lease proxy, `--try`, log watch. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Option } from "commander";
import type { HeldLease } from "../../client/berth-client.ts";
import { parseDuration } from "../../core/model/time.ts";
import { JobLeases } from "../../workers/proxy/job-leases.ts";
import { LeaseProxy } from "../../workers/proxy/lease-proxy.ts";
import { releaseUnused } from "../../workers/proxy/release-unused.ts";
import { type OptionalLease, tryUpTo } from "../../workers/proxy/try-up-to.ts";
import type { Context } from "../cli-command.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import type { OutputWatch } from "./command-process.ts";
import { HeartbeatLog } from "./heartbeat-log.ts";
import { defaultHolder } from "./holder.ts";
import { variableSuffix } from "./lease-variables.ts";
import { LogWatch, parseLogPatterns } from "./log-watch.ts";
import { commonRequestFields, type RequestFlags } from "./request-flags.ts";
import { shellClientPath } from "./shell-client.ts";
import { ThrottleReports } from "./throttle-reports.ts";
import { type Job, optionalAddressLeases, parseOptionalLease } from "./try-flags.ts";
import { WaitingLog } from "./waiting-log.ts";

export interface SidecarFlags {
  readonly proxy?: boolean;
  readonly proxyTimeout?: number;
  readonly try?: readonly OptionalLease[];
  readonly watchLog?: readonly (readonly RegExp[])[];
}

export function sidecarOptions(): Option[] {
  return [
    flag("--proxy", "serve the lease proxy to CMD; its leases are released when CMD exits"),
    flag(
      "--proxy-timeout <duration>",
      "how long a request through the proxy waits; default 2h",
      duration(),
    ),
    repeatedFlag(
      "--try <pool:[min-]n>",
      "lease up to n if they are free now, never wait; sets IP_POOL_AVAILABLE to the number",
      parseOptionalLease,
    ),
    repeatedFlag(
      "--watch-log <patterns>",
      "report throttling that CMD's output shows; known, or a file of patterns",
      parseLogPatterns,
    ),
  ];
}

export class Sidecar {
  readonly #context: Context;
  readonly #leases: JobLeases;
  #variables: Readonly<Record<string, string>> = {};
  #finishWatch: (() => Promise<void>) | undefined;
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(context: Context, name: string) {
    this.#context = context;
    this.#leases = jobLeases(context, name);
  }

  /** Starts the services that the flags ask for. On an error, releases its leases and throws. */
  static async start(context: Context, job: Job): Promise<Sidecar> {
    const { proxy, try: asked = [] } = context.flags<SidecarFlags>();
    const optional = [...asked, ...optionalAddressLeases(job)];
    const sidecar = new Sidecar(context, job.name);
    if (!proxy && optional.length === 0 && job.profile === undefined) return sidecar;
    try {
      const shared = await sharedFolder();
      sidecar.#closing.push(() => shared.remove());
      const common = { LEASE_PROXY_CLIENT_SH: shellClientPath, SHARED_DIR: shared.path };
      sidecar.#variables = {
        ...common,
        ...(proxy ? await sidecar.#serve() : undefined),
        ...(optional.length > 0 ? await sidecar.#try(optional, shared.path) : undefined),
      };
    } catch (error) {
      await sidecar.close(new AbortController().signal);
      throw error;
    }
    return sidecar;
  }

  /** Variables for the command's environment. */
  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  /** Returns the reader of the command's output, if `--watch-log` is given. */
  watch(own: readonly HeldLease[]): OutputWatch | undefined {
    const { flags, client, note } = this.#context;
    const patterns = flags<SidecarFlags>().watchLog?.flat();
    if (patterns === undefined) return undefined;
    const reports = new ThrottleReports(client, note, () => [...own, ...this.#leases.held]);
    const onMatch = (evidence: string) => reports.reportThrottled(evidence);
    const streams = {
      stdout: new LogWatch(patterns, onMatch),
      stderr: new LogWatch(patterns, onMatch),
    };
    this.#finishWatch = async () => {
      for (const stream of Object.values(streams)) stream.end();
      await reports.close();
    };
    return { read: (stream, chunk) => streams[stream].read(chunk) };
  }

  /** Releases all leases that the command did not release. */
  async close(signal: AbortSignal): Promise<void> {
    await this.#finishWatch?.();
    await this.#leases.close(signal);
    for (const close of this.#closing) await close();
  }

  async #serve(): Promise<Record<string, string>> {
    const proxy = await LeaseProxy.start(this.#leases);
    this.#closing.push(() => proxy.close());
    return { LEASE_PROXY_SERVER_URL: proxy.url };
  }

  /** Leases what is free now. Releases what the command later reports as unused. */
  async #try(optional: readonly OptionalLease[], shared: string): Promise<Record<string, string>> {
    const { client, note } = this.#context;
    const variables: Record<string, string> = {};
    const names: string[] = [];
    for (const each of optional) {
      const got = await tryUpTo(this.#leases, client, each, note);
      names.push(...got);
      variables[`BERTH_RESOURCE_${variableSuffix(each.pool)}`] = got.join(" ");
    }
    const stop = new AbortController();
    this.#closing.push(async () => stop.abort());
    const job = { leases: this.#leases, note: (text: string) => note(plain(text)) };
    if (names.length > 0) void releaseUnused(job, shared, names, stop.signal);
    return { ...variables, IP_POOL_AVAILABLE: String(names.length) };
  }
}

function jobLeases(context: Context, name: string): JobLeases {
  const { client, note } = context;
  const flags = context.flags<RequestFlags & SidecarFlags>();
  return new JobLeases({
    client,
    holder: flags.holder ?? defaultHolder(name),
    asking: commonRequestFields(flags),
    timeoutMs: flags.proxyTimeout,
    connectMs: flags.connectTimeout,
    note: (text) => note(plain(text)),
    // The command uses the terminal, so we print log lines instead of a live line.
    waiting: () => {
      const log = new WaitingLog((text) => void process.stderr.write(text));
      return {
        onWaiting: (request) => log.show(request),
        onRetry: (error) => log.retrying(error),
        end: () => log.end(),
      };
    },
    keeping: ({ ttl }) => new HeartbeatLog(note, parseDuration(ttl ?? "") ?? 0).listeners,
  });
}

/** The folder that job steps share: the CI system's SHARED_DIR, or else a temporary one. */
async function sharedFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const given = process.env["SHARED_DIR"] ?? "";
  if (given !== "") return { path: given, remove: async () => {} };
  const path = await mkdtemp(join(tmpdir(), "berth-shared-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
