import type { Resource, ResourcePatch } from "../../api/schemas.ts";
import type { Context } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { whoIAm } from "../run/holder.ts";
import { asData } from "../show/listing.ts";
import { plain } from "../terminal/text.ts";
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
    flag("--pool <pool>", "all resources of this pool"),
    flag("--reason <why>", "kept with the change, for those who wonder later", reason),
    outputFlag("table", "json", "yaml", "name"),
  ];
}

/** What a command does to a resource. */
export interface Change {
  readonly verb: "drain" | "undrain" | "free";
  readonly patch: (resource: Resource, reason: string | undefined) => ResourcePatch;
  /** Of a whole pool only these are changed. */
  readonly concerns: (resource: Resource) => boolean;
}

/** Changes each that is named, or all of `--pool` that are in question; tells what became of each. */
export async function changeResources(context: Context, change: Change): Promise<undefined> {
  const { client, flags, note, print } = context;
  const { verb, patch } = change;
  const { reason, output } = flags<ChangeFlags>();
  const by = { by: whoIAm(), ...(reason === undefined ? undefined : { reason }) };
  const changed: Resource[] = [];
  for (const before of await meant(context, change)) {
    const body = { ...patch(before, reason), ...by };
    const resource = await client.changeResource(before.name, body);
    changed.push(resource);
    if (output === "table") print(inWords(resource, verb));
    if (output === "name") print(resource.name);
  }
  if (output === "json" || output === "yaml") print(await asData(changed, output));
  else if (changed.length === 0) note(`There is nothing to ${verb}. See: berth resources`);
  return undefined;
}

async function meant(
  { args, client, flags }: Context,
  { verb, concerns }: Change,
): Promise<readonly Resource[]> {
  const { pool } = flags<ChangeFlags>();
  if (args.length > 0 === (pool !== undefined)) {
    const state =
      pool === undefined ? "no resource is named" : "both resources and --pool are named";
    const hint = `Write berth ${verb} RESOURCE…, or berth ${verb} --pool POOL`;
    throw usageError(`Cannot ${verb}: ${state}`, hint);
  }
  // All names are looked up first, so that a typing error in the last one changes nothing.
  if (pool === undefined) return Promise.all(args.map((name) => client.resource(name)));
  await client.pool(pool);
  return (await client.everyResource({ pool })).filter(concerns);
}

const doneByVerb: Readonly<Record<Change["verb"], string>> = {
  drain: "drained",
  undrain: "undrained",
  free: "free",
};

function inWords({ name, lease, state }: Resource, verb: Change["verb"]): string {
  const held = lease === null ? "" : `; ${lease.holder} still holds it`;
  const now = verb === "undrain" && lease === null ? `, ${state} now` : "";
  return plain(`${name} ${doneByVerb[verb]}${now}${held}`);
}
