import type { ClusterAccess } from "../../api/cluster-schemas.ts";
import type { Claim } from "../../api/schemas.ts";
import type { Held } from "../../client/calls.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag, onceFlag, outputFlag } from "../flags.ts";
import { readAccess } from "../run/cluster-access.ts";
import { type LeaseFlags, resolveLease } from "../run/lease-file.ts";
import { formatData } from "../show/listing.ts";
import { token } from "../values.ts";

interface Flags extends LeaseFlags {
  readonly claim?: string;
  readonly output: "kubeconfig" | "json" | "yaml";
}

export const access: CliCommand = {
  args: [["[lease]", "the lease's id; default: that of the environment"]],
  options: [
    flag("--token <token>", "the lease's token ($BERTH_LEASE_TOKEN)", token),
    flag("--file <file>", "read id and token from this lease file"),
    onceFlag("--claim <claim>", "of this claim or resource, if the lease has several clusters"),
    outputFlag("kubeconfig", "json", "yaml"),
  ],
  help: `
Prints the access to a cluster that you hold: the kubeconfig or, with -o json, also user, password and
addresses. It works until you release the lease; afterwards nobody can read it again.

Examples:
  berth access > kubeconfig                      in a job of berth run
  eval "$(berth acquire --pool ocp-4.20 -o env)"; berth access > kubeconfig
  berth access LEASE --token TOKEN -o json`,
  async run(context) {
    const { output, claim, ...lease } = context.flags<Flags>();
    const held = resolveLease(context.args[0], lease, "show the access of");
    const found = await oneCluster(context, held, claim);
    const bundle = await readAccess(context.client, held, found.id);
    context.print(
      output === "kubeconfig" ? kubeconfigOf(bundle) : await formatData(bundle, output),
    );
    return undefined;
  },
};

function kubeconfigOf({ kubeconfig }: ClusterAccess): string {
  return kubeconfig.trimEnd();
}

async function oneCluster(
  { client }: Context,
  held: Held,
  wanted: string | undefined,
): Promise<Claim> {
  const { id, claims } = await client.lease(held.id, { token: held.token });
  const clusters = claims.filter(({ cluster }) => cluster === true);
  const fits = clusters.filter(({ id: claim, resource, pool }) => {
    return wanted === undefined || [claim, resource, pool].includes(wanted);
  });
  const [only, ...others] = fits;
  if (only !== undefined && others.length === 0) return only;
  const names = clusters.map(({ resource }) => resource);
  if (names.length === 0) {
    throw usageError(
      `Cannot show the access of ${id}: it has no cluster`,
      "See what it has: berth leases -o wide",
    );
  }
  const state =
    only === undefined ? `it has no cluster "${wanted}"` : `it has ${names.length} clusters`;
  throw usageError(
    `Cannot show the access of ${id}: ${state}`,
    `Add --claim with one of ${names.join(", ")}`,
  );
}
