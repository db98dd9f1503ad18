import type { HeldLease } from "../../client/berth-client.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { asData } from "../show/listing.ts";
import { shellQuoted } from "../terminal/text.ts";
import { leaseVariables, refuseClashes } from "./lease-variables.ts";
import { type AskFlags, askOf, askOptions, namedPools } from "./request-flags.ts";
import { SignalDesk } from "./signals.ts";
import { waitForLease } from "./wait-for-lease.ts";

export const leaseFormats = ["json", "yaml", "name", "env"] as const;

export type LeaseFormat = (typeof leaseFormats)[number];

interface Flags extends AskFlags {
  readonly output: LeaseFormat;
}

export const acquire: CliCommand = {
  options: [...askOptions(), outputFlag(...leaseFormats)],
  help: `
The lease is yours for its ttl: keep it alive with berth heartbeat, end it with berth release.
In a script: eval "$(berth acquire --pool aws-account -o env)"; trap 'berth release' EXIT`,
  async run(context) {
    const flags = context.flags<Flags>();
    const ask = askOf(flags, "acquire", "acquire a lease");
    if (flags.output === "env") refuseClashes(namedPools(ask));
    const desk = new SignalDesk();
    const lease = await waitForLease(context, ask, flags, desk);
    desk.close();
    await handOver(context, lease, flags.output);
    return undefined;
  },
};

/** Prints it for whoever asked, and gives it back where that does not work. */
export async function handOver(
  { client }: Context,
  lease: HeldLease,
  output: LeaseFormat,
): Promise<void> {
  try {
    await written(await leaseText(lease, output, client.url));
  } catch (error) {
    await client.release(lease); // Nobody knows of it, so nobody would give it back.
    const state = error instanceof Error ? error.message : String(error);
    const message = `Cannot print the lease: ${state}`;
    throw new CliError(message, "It was given back; check where the output goes", exitCodes.bug);
  }
}

/** A lease as a script wants to have it. */
async function leaseText(lease: HeldLease, output: LeaseFormat, url: string): Promise<string> {
  switch (output) {
    case "name":
      return lease.id;
    case "env": {
      const variables = Object.entries(leaseVariables(lease, url));
      return `export ${variables.map(([name, value]) => `${name}=${shellQuoted(value)}`).join(" ")}`;
    }
    default:
      return asData(lease, output);
  }
}

function written(text: string): Promise<void> {
  process.stdout.removeAllListeners("error"); // Here a reader that is gone is a failure.
  return new Promise((resolve, reject) => {
    process.stdout.once("error", reject);
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}
