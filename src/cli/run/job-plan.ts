/** What a job needs, in the words of its CI: a profile, and leases that have variables of their own. */
import type { AskBody, Claim, Profile } from "../../api/schemas.ts";
import type { HeldLease } from "../../client/berth-client.ts";
import { clientLimits } from "../../client/limits.ts";
import { retrying } from "../../client/pause.ts";
import { nearest } from "../../core/model/nearest.ts";
import type { Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { InvalidValue, type Parse, type PoolCount, poolCount } from "../values.ts";
import { leasedValue } from "./leased-value.ts";
import { type AskFlags, askOf } from "./request-flags.ts";

/** `LEASE0=vpc:3`: three of vpc, told as LEASE0. */
export interface NamedLease extends PoolCount {
  readonly env: string;
}

export const namedLease: Parse<NamedLease> = (text) => {
  const [, env = "", pool = ""] = /^([^=]*)=?(.*)$/.exec(text) ?? [];
  if (env === "") throw new InvalidValue("'env' cannot be empty", "Write it like ENV=POOL:COUNT");
  if (pool === "") {
    throw new InvalidValue("'resource_type' cannot be empty", "Write it like ENV=POOL:COUNT");
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env)) {
    throw new InvalidValue("it does not begin with a variable's name", "Use letters, digits and _");
  }
  return { env, ...poolCount(pool) };
};

export interface PlanFlags extends AskFlags {
  readonly profile?: string;
  readonly lease?: readonly NamedLease[];
}

export interface JobPlan {
  readonly profile: Profile | undefined;
  readonly named: readonly NamedLease[];
}

const profileVariable = "LEASED_RESOURCE";

/** Asks the server what a profile stands for. */
export async function planOf(context: Context): Promise<JobPlan> {
  const { profile, lease = [] } = context.flags<PlanFlags>();
  const variables = [...(profile === undefined ? [] : [profileVariable])];
  for (const { env } of lease) {
    if (variables.includes(env)) {
      const hint = "Give each --lease a variable of its own";
      throw usageError(`Cannot run: duplicate environment variable: ${env}`, hint);
    }
    variables.push(env);
  }
  return {
    profile: profile === undefined ? undefined : await profileNamed(context, profile),
    named: lease,
  };
}

async function profileNamed({ client, flags }: Context, name: string): Promise<Profile> {
  const forMs = flags<AskFlags>().connectTimeout ?? clientLimits.connectMs;
  const { profiles = [] } = await retrying(() => client.config(), { forMs });
  const found = profiles.find((profile) => profile.name === name);
  if (found !== undefined) return found;
  const known = profiles.map((profile) => profile.name);
  const meant = nearest(name, known);
  const hint =
    known.length === 0
      ? "The server's configuration has no profiles; see docs/guides/install-leases.md"
      : meant === undefined
        ? `Use ${known.slice(0, 10).join(", ")}`
        : `Did you mean "${meant}"?`;
  throw new CliError(`Cannot find profile "${name}"`, hint, exitCodes.notFound);
}

/** One request for all of it: granted whole, or not at all. */
export function plannedAsk(flags: PlanFlags, plan: JobPlan, name: string): AskBody {
  const { profile, named } = plan;
  const first = profile === undefined ? [] : [{ pool: profile.pool, count: 1 }];
  const pool = [...first, ...named, ...(flags.pool ?? [])];
  return askOf({ ...flags, pool }, name, "run");
}

/** What was granted, under the names that the job knows: the profile's first, then in order. */
export function planVariables(
  { profile, named }: JobPlan,
  lease: HeldLease,
): Record<string, string> {
  const left = new Map<string, Claim[]>();
  for (const claim of lease.claims) left.set(claim.pool, [...(left.get(claim.pool) ?? []), claim]);
  const take = (pool: string, count: number) =>
    (left.get(pool) ?? []).splice(0, count).map(({ resource }) => resource);
  const variables = profile === undefined ? {} : told(profile, take(profile.pool, 1)[0] ?? "");
  for (const { env, pool, count } of named) {
    variables[env] = take(pool, count).map(leasedValue).join(" ");
  }
  return variables;
}

/** Of a set, the granted name says which profile it is. */
function told({ name, type, members }: Profile, resource: string): Record<string, string> {
  const [member = "", region] = resource.split("--");
  const isSet = members !== undefined && region !== undefined;
  return {
    [profileVariable]: leasedValue(resource),
    CLUSTER_TYPE: type,
    CLUSTER_PROFILE_NAME: isSet ? member : name,
    ...(members === undefined ? undefined : { CLUSTER_PROFILE_SET_NAME: name }),
  };
}
