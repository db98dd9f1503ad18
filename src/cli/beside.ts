/** What `berth run` does beside the command, on its behalf: the lease proxy and what comes with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Option } from "commander";
import { parseDuration } from "../core/duration.ts";
import { JobLeases } from "../proxy/job-leases.ts";
import { LeaseProxy } from "../proxy/lease-proxy.ts";
import { type AskFlags, askedBeside } from "./asking.ts";
import type { Context } from "./cli-command.ts";
import { flag } from "./flags.ts";
import { HeartbeatLog } from "./heartbeat-log.ts";
import { defaultHolder } from "./holder.ts";
import { shellClientPath } from "./shell-client.ts";
import { plain } from "./text.ts";
import { duration } from "./values.ts";
import { WaitingLog } from "./waiting-log.ts";

export interface BesideFlags {
  readonly proxy?: boolean;
  readonly proxyTimeout?: number;
}

export function besideOptions(): Option[] {
  return [
    flag("--proxy", "serve the lease proxy to CMD: what it leases there is given back at the end"),
    flag(
      "--proxy-timeout <duration>",
      "how long one asked for through the proxy waits; 2h unless given",
      duration(),
    ),
  ];
}

export class Beside {
  /** For the command's environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #close: (signal: AbortSignal) => Promise<void>;

  private constructor(
    variables: Readonly<Record<string, string>>,
    close: (signal: AbortSignal) => Promise<void>,
  ) {
    this.variables = variables;
    this.#close = close;
  }

  static async start(context: Context, name: string): Promise<Beside> {
    const { proxy } = context.flags<BesideFlags>();
    if (!proxy) return new Beside({}, async () => {});
    const leases = jobLeases(context, name);
    const served = await LeaseProxy.start(leases);
    const shared = await sharedFolder();
    const variables = {
      LEASE_PROXY_SERVER_URL: served.url,
      LEASE_PROXY_CLIENT_SH: shellClientPath,
      SHARED_DIR: shared.path,
    };
    return new Beside(variables, async (signal) => {
      await leases.close(signal);
      await served.close();
      await shared.remove();
    });
  }

  /** Gives back whatever the command has left behind. */
  close(signal: AbortSignal): Promise<void> {
    return this.#close(signal);
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
