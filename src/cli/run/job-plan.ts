/** The leases of a `berth run`: those of `--profile`, and those of `--lease` with their variables. */
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
import { buildRequest, type RequestFlags } from "./request-flags.ts";

/** `LEASE0=vpc:3`: three resources of pool vpc, passed to the command in the variable LEASE0. */
export interface NamedLease extends PoolCount {
  readonly env: string;
}

export const parseNamedLease: Parse<NamedLease> = (text) => {
  const [, env = "", pool = ""] = /^([^=]*)=?(.*)$/.exec(text) ?? [];
  // These two messages are the CI system's own (ci-tools), so that its users recognise them.
  if (env === "") throw new InvalidValue("'env' cannot be empty", "Write it like ENV=POOL:COUNT");
  if (pool === "") {
    throw new InvalidValue("'resource_type' cannot be empty", "Write it like ENV=POOL:COUNT");
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env)) {
    throw new InvalidValue("it does not start with a variable name", "Use letters, digits and _");
  }
  return { env, ...poolCount(pool) };
};

export interface PlanFlags extends RequestFlags {
  readonly profile?: string;
  readonly lease?: readonly NamedLease[];
}

export interface JobPlan {
  readonly profile: Profile | undefined;
  readonly namedLeases: readonly NamedLease[];
}

const profileVariable = "LEASED_RESOURCE";

/** Reads `--profile` and `--lease`. Fetches the profile from the server. */
export async function readPlan(context: Context): Promise<JobPlan> {
  const { profile, lease = [] } = context.flags<PlanFlags>();
  const variables = [...(profile === undefined ? [] : [profileVariable])];
  for (const { env } of lease) {
    if (variables.includes(env)) {
      const hint = "Use a different variable for each --lease";
      throw usageError(`Cannot run: duplicate environment variable: ${env}`, hint);
    }
    variables.push(env);
  }
  return {
    profile: profile === undefined ? undefined : await findProfile(context, profile),
    namedLeases: lease,
  };
}

async function findProfile({ client, flags }: Context, name: string): Promise<Profile> {
  const forMs = flags<RequestFlags>().connectTimeout ?? clientLimits.connectMs;
  const { profiles = [] } = await retrying(() => client.config(), { forMs });
  const found = profiles.find((profile) => profile.name === name);
  if (found !== undefined) return found;
  const known = profiles.map((profile) => profile.name);
  const meant = nearest(name, known);
  const hint =
    known.length === 0
      ? "The server's configuration has no profiles; add them to its file under profiles:"
      : meant === undefined
        ? `Use ${known.slice(0, 10).join(", ")}`
        : `Did you mean "${meant}"?`;
  throw new CliError(`Cannot find profile "${name}"`, hint, exitCodes.notFound);
}

/** Builds one request for all leases of the job, so that all are granted together or none. */
export function planRequest(flags: PlanFlags, plan: JobPlan, name: string): AskBody {
  const { profile, namedLeases } = plan;
  const first = profile === undefined ? [] : [{ pool: profile.pool, count: 1 }];
  const pool = [...first, ...namedLeases, ...(flags.pool ?? [])];
  return buildRequest({ ...flags, pool }, name, "run");
}

/**
 * Assigns the granted resources to the job's variables. If several variables share a pool, the
 * profile gets the first resource, then each `--lease` in order.
 */
export function planVariables(
  { profile, namedLeases }: JobPlan,
  lease: HeldLease,
): Record<string, string> {
  const left = new Map<string, Claim[]>();
  for (const claim of lease.claims) left.set(claim.pool, [...(left.get(claim.pool) ?? []), claim]);
  const take = (pool: string, count: number) =>
    (left.get(pool) ?? []).splice(0, count).map(({ resource }) => resource);
  const variables =
    profile === undefined ? {} : profileVariables(profile, take(profile.pool, 1)[0] ?? "");
  for (const { env, pool, count } of namedLeases) {
    variables[env] = take(pool, count).map(leasedValue).join(" ");
  }
  return variables;
}

/** For a profile set, the name of the granted resource starts with the name of the member. */
function profileVariables(
  { name, type, members }: Profile,
  resource: string,
): Record<string, string> {
  const [member = "", region] = resource.split("--");
  const isSet = members !== undefined && region !== undefined;
  return {
    [profileVariable]: leasedValue(resource),
    CLUSTER_TYPE: type,
    CLUSTER_PROFILE_NAME: isSet ? member : name,
    ...(members === undefined ? undefined : { CLUSTER_PROFILE_SET_NAME: name }),
  };
}
