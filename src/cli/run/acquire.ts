import type { HeldLease } from "../../client/berth-client.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { type GlobalFlags, outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { shellQuoted } from "../terminal/text.ts";
import { clusterClaims } from "./cluster-access.ts";
import { leaseVariables, refuseVariableClashes } from "./lease-variables.ts";
import { buildRequest, namedPools, type RequestFlags, requestOptions } from "./request-flags.ts";
import { SignalRouter } from "./signals.ts";
import { waitForLease } from "./wait-for-lease.ts";

export const leaseFormats = ["json", "yaml", "name", "env"] as const;

export type LeaseFormat = (typeof leaseFormats)[number];

interface Flags extends RequestFlags {
  readonly output: LeaseFormat;
}

export const acquire: CliCommand = {
  options: [...requestOptions(), outputFlag(...leaseFormats)],
  help: `
The lease expires after its ttl. Renew it with berth heartbeat, end it with berth release.
The kubeconfig of a cluster is not part of it: berth access LEASE > kubeconfig
In a script: eval "$(berth acquire --pool aws-account -o env)"; trap 'berth release' EXIT`,
  async run(context) {
    const flags = context.flags<Flags>();
    const ask = buildRequest(flags, "acquire", "acquire a lease");
    if (flags.output === "env") refuseVariableClashes(namedPools(ask));
    const router = new SignalRouter();
    const lease = await waitForLease(context, ask, flags, router);
    router.close();
    await printLease(context, lease, flags.output);
    if (clusterClaims(lease).length > 0) {
      context.note(
        `The access to the cluster: berth access ${lease.id} --token TOKEN > kubeconfig`,
      );
    }
    return undefined;
  },
};

/** Prints the lease to stdout. If this fails, releases the lease and throws. */
export async function printLease(
  context: Context,
  lease: HeldLease,
  output: LeaseFormat,
): Promise<void> {
  try {
    await writeStdout(await formatLease(context, lease, output));
  } catch (error) {
    await context.client.release(lease); // The user never saw the lease and so cannot release it.
    const state = error instanceof Error ? error.message : String(error);
    const message = `Cannot print the lease: ${state}`;
    throw new CliError(message, "It was released; check where the output goes", exitCodes.bug);
  }
}

/** Formats the lease for scripts. */
async function formatLease(
  { client, flags }: Context,
  lease: HeldLease,
  output: LeaseFormat,
): Promise<string> {
  switch (output) {
    case "name":
      return lease.id;
    case "env": {
      const variables = leaseVariables(lease, client.url, flags<GlobalFlags>().tokenFile);
      const assigned = Object.entries(variables).map(([name, value]) => {
        return `${name}=${shellQuoted(value)}`;
      });
      return `export ${assigned.join(" ")}`;
    }
    default:
      return formatData(lease, output);
  }
}

function writeStdout(text: string): Promise<void> {
  // `main` ignores a closed pipe. Here it is an error, because the lease would be lost.
  process.stdout.removeAllListeners("error");
  return new Promise((resolve, reject) => {
    process.stdout.once("error", reject);
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}
