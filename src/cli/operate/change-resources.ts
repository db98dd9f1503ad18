import { Problem } from "../../api/problem.ts";
import type { Resource, ResourcePatch } from "../../api/schemas.ts";
import type { BerthClient } from "../../client/berth-client.ts";
import type { Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag, onceFlag, outputFlag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { formatData } from "../show/listing.ts";
import { plain, shellQuoted } from "../terminal/text.ts";
import { matching } from "../values.ts";

export interface ChangeFlags {
  readonly pool?: string;
  readonly reason?: string;
  readonly output: "table" | "json" | "yaml" | "name";
}

const reasonLengthMax = 1_024;

export function changeOptions() {
  const reason = matching(/\S/, reasonLengthMax, "a reason in words");
  return [
    onceFlag("--pool <pool>", "all resources of this pool"),
    flag("--reason <why>", "the reason, stored with the change", reason),
    outputFlag("table", "json", "yaml", "name"),
  ];
}

/** The change that a command makes to a resource. */
export interface Change {
  readonly verb: "drain" | "undrain" | "free";
  readonly patch: (resource: Resource, reason: string | undefined) => ResourcePatch;
  /** With `--pool`, only these resources are changed. */
  readonly isTarget: (resource: Resource) => boolean;
  /** Which these are, if not all. */
  readonly targets?: string;
}

/** Changes the named resources, or the targets in `--pool`, and prints each result. */
export async function changeResources(context: Context, change: Change): Promise<undefined> {
  const { client, flags, note, print } = context;
  const { verb, patch } = change;
  const { reason, output } = flags<ChangeFlags>();
  const by = { by: userAtHost(), ...(reason === undefined ? undefined : { reason }) };
  const changed: Resource[] = [];
  for (const before of await findTargets(context, change)) {
    const body = { ...patch(before, reason), ...by };
    const resource = await client.changeResource(before.name, body);
    changed.push(resource);
    if (output === "table") print(formatChange(resource, verb));
    if (output === "name") print(resource.name);
  }
  if (output === "json" || output === "yaml") print(await formatData(changed, output));
  else if (changed.length === 0) note(nothingText(change));
  return undefined;
}

function nothingText({ verb, targets }: Change): string {
  const list = "List resources: berth resources";
  if (targets === undefined) return `Nothing to ${verb}. ${list}`;
  return `Nothing to ${verb}: --pool means ${targets} resources; name others: berth ${verb} RESOURCE. ${list}`;
}

async function findTargets(
  { args, client, flags }: Context,
  { verb, isTarget }: Change,
): Promise<readonly Resource[]> {
  const { pool } = flags<ChangeFlags>();
  if (args.length > 0 === (pool !== undefined)) {
    const state =
      pool === undefined ? "no resource is given" : "both resources and --pool are given";
    const hint = `Use berth ${verb} RESOURCE…, or berth ${verb} --pool POOL`;
    throw usageError(`Cannot ${verb}: ${state}`, hint);
  }
  // Reads all resources first, so that a typing error in the last name changes nothing.
  if (pool === undefined) return Promise.all(args.map((name) => readResource(client, name, verb)));
  await client.pool(pool);
  return (await client.everyResource({ pool })).filter(isTarget);
}

/** A pool's name instead of a resource's is a frequent mistake, so the hint has the right command. */
async function readResource(
  client: BerthClient,
  name: string,
  verb: Change["verb"],
): Promise<Resource> {
  try {
    return await client.resource(name);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "resource_not_found") throw error;
    const isPool = await client.pool(name).then(
      () => true,
      () => false,
    );
    if (!isPool) throw error;
    throw usageError(
      `Cannot ${verb} "${plain(name)}": it is a pool, not a resource`,
      `For all resources of the pool: berth ${verb} --pool ${shellQuoted(name)}`,
    );
  }
}

const participleByVerb: Readonly<Record<Change["verb"], string>> = {
  drain: "drained",
  undrain: "undrained",
  free: "free",
};

function formatChange({ name, lease, state }: Resource, verb: Change["verb"]): string {
  const held = lease === null ? "" : `; ${lease.holder} still holds it`;
  const now = verb === "undrain" && lease === null ? `, ${state} now` : "";
  return plain(`${name} ${participleByVerb[verb]}${now}${held}`);
}
