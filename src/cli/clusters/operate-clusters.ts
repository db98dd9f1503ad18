/** What operators do with single clusters. Each command says what is true afterwards. */
import { formatDuration } from "../../core/model/time.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag, onceFlag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { plain } from "../terminal/text.ts";
import { duration, InvalidValue, matching, type Parse } from "../values.ts";
import { clusterNames } from "./cluster-names.ts";

interface Flags {
  readonly reason?: string;
  readonly for?: number;
  readonly pool?: string;
  readonly instance?: string;
  readonly handle?: unknown;
}

/** What all commands on a cluster of the books have in common. */
const ofCluster = {
  args: [["<cluster>", "the cluster's name"]],
  completes: clusterNames,
} satisfies Partial<CliCommand>;
const reasonFlag = () =>
  flag(
    "--reason <why>",
    "the reason, recorded with it",
    matching(/\S/, 1_024, "a reason in words"),
  );

function because({ flags }: Context) {
  const { reason } = flags<Flags>();
  return { by: userAtHost(), ...(reason === undefined ? undefined : { reason }) };
}

const dayMs = 24 * 3_600_000;

export const hold: CliCommand = {
  ...ofCluster,
  options: [
    flag(
      "--for <duration>",
      "for how long; default 2h",
      duration({ minMs: 60_000, maxMs: 30 * dayMs }),
    ),
    reasonFlag(),
  ],
  help: `
A held cluster is neither lent nor destroyed until then. Its space still pays for it.

Example:
  berth clusters hold ocp-4.20-7 --for 2h --reason "router does not start"`,
  async run(context) {
    const { for: forMs = 2 * 3_600_000 } = context.flags<Flags>();
    const [name = ""] = context.args;
    const text = formatDuration(forMs);
    await context.client.clusters.hold(name, { for: text, ...because(context) });
    context.print(
      plain(`${name} is held for ${text}; let it go with: berth clusters unhold ${name}`),
    );
    return undefined;
  },
};

export const unhold: CliCommand = {
  ...ofCluster,
  options: [reasonFlag()],
  async run(context) {
    const [name = ""] = context.args;
    const { state } = await context.client.clusters.unhold(name, because(context));
    context.print(plain(`${name} is no longer held; it is ${state}`));
    return undefined;
  },
};

export const destroy: CliCommand = {
  ...ofCluster,
  options: [reasonFlag()],
  help: "\nThe cluster of a lease is destroyed when the lease ends: berth release --force.",
  async run(context) {
    const [name = ""] = context.args;
    await context.client.clusters.destroy(name, because(context));
    context.print(
      plain(`${name} will be destroyed; watch it with: berth clusters ${name} --watch`),
    );
    return undefined;
  },
};

export const abandon: CliCommand = {
  ...ofCluster,
  options: [reasonFlag()],
  help: `
Removes the cluster from Berth's books although it may still exist and cost money. Its space is no
longer charged. The event cluster-abandoned records who did it and what may be left.

Example:
  berth clusters abandon ocp-4.20-7 --reason "account closed, ticket 4711"`,
  async run(context) {
    const [name = ""] = context.args;
    if (context.flags<Flags>().reason === undefined) {
      const hint = "Add --reason: the record of a leak must say what is left, and who knows of it";
      throw usageError(`Cannot abandon ${plain(name)}: no reason is given`, hint);
    }
    await context.client.clusters.abandon(name, because(context));
    context.print(plain(`${name} is abandoned. Whatever still exists of it is yours to remove`));
    return undefined;
  },
};

const json: Parse<unknown> = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidValue("it is not JSON", `Write it like '{"id": "i-0123"}'`);
  }
};

export const adopt: CliCommand = {
  args: [["<cluster>", "the name that it gets in Berth"]],
  options: [
    onceFlag("--pool <pool>", "the pool that lends it"),
    onceFlag("--instance <id>", "its instance, as its tags say"),
    flag("--handle <json>", "what its driver needs to find it", json),
    reasonFlag(),
  ],
  help: `
The cluster must have been made by the pool's driver. A provisioner checks it before it is lent.

Example:
  berth clusters adopt ocp-4.20-9 --pool ocp-4.20 --instance ocp-4.20-9.17`,
  async run(context) {
    const { pool, instance, handle } = context.flags<Flags>();
    const [name = ""] = context.args;
    if (pool === undefined || instance === undefined) {
      const missing = pool === undefined ? "--pool" : "--instance";
      throw usageError(`Cannot adopt ${plain(name)}: ${missing} is missing`, `Add ${missing}`);
    }
    const found = handle === undefined ? undefined : { handle };
    await context.client.clusters.adopt(name, { pool, instance, ...found, ...because(context) });
    context.print(plain(`${name} is in the pool ${pool}; a provisioner checks it now`));
    return undefined;
  },
};
