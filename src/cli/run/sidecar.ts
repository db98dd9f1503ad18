/** What `berth run` does beside the command, on its behalf: the lease proxy and what comes with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Option } from "commander";
import type { HeldLease } from "../../client/berth-client.ts";
import { parseDuration } from "../../core/model/duration.ts";
import { giveUnusedBack } from "../../workers/proxy/give-unused-back.ts";
import { JobLeases } from "../../workers/proxy/job-leases.ts";
import { LeaseProxy } from "../../workers/proxy/lease-proxy.ts";
import { type Trial, tryUpTo } from "../../workers/proxy/try-up-to.ts";
import type { Context } from "../cli-command.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { plain } from "../terminal/text.ts";
import { duration } from "../values.ts";
import { addressesOf, type Job, trial } from "../what-if/try-flags.ts";
import type { OutputWatch } from "./command-process.ts";
import { HeartbeatLog } from "./heartbeat-log.ts";
import { defaultHolder } from "./holder.ts";
import { variablePart } from "./lease-variables.ts";
import { LogWatch, logPatterns } from "./log-watch.ts";
import { type AskFlags, askedBeside } from "./request-flags.ts";
import { shellClientPath } from "./shell-client.ts";
import { ThrottleSignals } from "./throttle-signals.ts";
import { WaitingLog } from "./waiting-log.ts";

export interface BesideFlags {
  readonly proxy?: boolean;
  readonly proxyTimeout?: number;
  readonly try?: readonly Trial[];
  readonly watchLog?: readonly (readonly RegExp[])[];
}

export function besideOptions(): Option[] {
  return [
    flag("--proxy", "serve the lease proxy to CMD: what it leases there is given back at the end"),
    flag(
      "--proxy-timeout <duration>",
      "how long one asked for through the proxy waits; 2h unless given",
      duration(),
    ),
    repeatedFlag(
      "--try <pool:[min-]n>",
      "take up to n at once if they are free, or do without; IP_POOL_AVAILABLE says how many",
      trial,
    ),
    repeatedFlag(
      "--watch-log <patterns>",
      "tell the server when CMD's output says that it is throttled: known, or a file of patterns",
      logPatterns,
    ),
  ];
}

export class Beside {
  readonly #context: Context;
  readonly #leases: JobLeases;
  #variables: Readonly<Record<string, string>> = {};
  #watched: (() => Promise<void>) | undefined;
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(context: Context, name: string) {
    this.#context = context;
    this.#leases = jobLeases(context, name);
  }

  /** Throws what stands in the way, having given back what it had by then. */
  static async start(context: Context, job: Job): Promise<Beside> {
    const { proxy, try: asked = [] } = context.flags<BesideFlags>();
    const trials = [...asked, ...addressesOf(job)];
    const beside = new Beside(context, job.name);
    if (!proxy && trials.length === 0 && job.profile === undefined) return beside;
    try {
      const shared = await sharedFolder();
      beside.#closing.push(() => shared.remove());
      const common = { LEASE_PROXY_CLIENT_SH: shellClientPath, SHARED_DIR: shared.path };
      beside.#variables = {
        ...common,
        ...(proxy ? await beside.#serve() : undefined),
        ...(trials.length > 0 ? await beside.#try(trials, shared.path) : undefined),
      };
    } catch (error) {
      await beside.close(new AbortController().signal);
      throw error;
    }
    return beside;
  }

  /** For the command's environment. */
  get variables(): Readonly<Record<string, string>> {
    return this.#variables;
  }

  /** Who reads what the command says, if anybody; `own` is what it is lent from the start. */
  watch(own: readonly HeldLease[]): OutputWatch | undefined {
    const { flags, client, note } = this.#context;
    const patterns = flags<BesideFlags>().watchLog?.flat();
    if (patterns === undefined) return undefined;
    const signals = new ThrottleSignals(client, note, () => [...own, ...this.#leases.held]);
    const found = (evidence: string) => signals.throttled(evidence);
    const streams = {
      stdout: new LogWatch(patterns, found),
      stderr: new LogWatch(patterns, found),
    };
    this.#watched = async () => {
      for (const stream of Object.values(streams)) stream.end();
      await signals.close();
    };
    return { read: (stream, chunk) => streams[stream].read(chunk) };
  }

  /** Gives back whatever the command has left behind. */
  async close(signal: AbortSignal): Promise<void> {
    await this.#watched?.();
    await this.#leases.close(signal);
    for (const close of this.#closing) await close();
  }

  async #serve(): Promise<Record<string, string>> {
    const proxy = await LeaseProxy.start(this.#leases);
    this.#closing.push(() => proxy.close());
    return { LEASE_PROXY_SERVER_URL: proxy.url };
  }

  /** What can be had at once, and a look-out for what the command says that it does not need. */
  async #try(trials: readonly Trial[], shared: string): Promise<Record<string, string>> {
    const { client, note } = this.#context;
    const variables: Record<string, string> = {};
    const names: string[] = [];
    for (const each of trials) {
      const got = await tryUpTo(this.#leases, client, each, note);
      names.push(...got);
      variables[`BERTH_RESOURCE_${variablePart(each.pool)}`] = got.join(" ");
    }
    const over = new AbortController();
    this.#closing.push(async () => over.abort());
    const job = { leases: this.#leases, note: (text: string) => note(plain(text)) };
    if (names.length > 0) void giveUnusedBack(job, shared, names, over.signal);
    return { ...variables, IP_POOL_AVAILABLE: String(names.length) };
  }
}

function jobLeases(context: Context, name: string): JobLeases {
  const { client, note } = context;
  const flags = context.flags<AskFlags & BesideFlags>();
  return new JobLeases({
    client,
    holder: flags.holder ?? defaultHolder(name),
    asking: askedBeside(flags),
    timeoutMs: flags.proxyTimeout,
    connectMs: flags.connectTimeout,
    note: (text) => note(plain(text)),
    // The screen is the command's: there is no line of ours that could move.
    waiting: () => {
      const log = new WaitingLog((text) => void process.stderr.write(text));
      return {
        onWaiting: (request) => log.show(request),
        onTrouble: (error) => log.trouble(error),
        end: () => log.end(),
      };
    },
    keeping: ({ ttl }) => new HeartbeatLog(note, parseDuration(ttl ?? "") ?? 0).listeners,
  });
}

/** Where steps find what others left: the CI's own folder, or one for as long as the command runs. */
async function sharedFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const given = process.env["SHARED_DIR"] ?? "";
  if (given !== "") return { path: given, remove: async () => {} };
  const path = await mkdtemp(join(tmpdir(), "berth-shared-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
