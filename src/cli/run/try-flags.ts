/** Optional leases of a job: `berth run` takes them if they are free and never waits for them. */
import type { Profile } from "../../api/schemas.ts";
import type { OptionalLease } from "../../workers/proxy/try-up-to.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { InvalidValue, type Parse, poolCount } from "../values.ts";

/** The job of a `berth run`, before its command starts. */
export interface Job {
  readonly name: string;
  readonly profile?: Profile | undefined;
  /** The command's LEASED_RESOURCE. It selects the address pool. */
  readonly region?: string | undefined;
}

/** An installation needs up to this many addresses. With fewer it would fail half-way. */
const addresses = 13;

export function optionalAddressLeases({ profile, region }: Job): OptionalLease[] {
  if (profile?.ipPool === undefined || region === undefined) return [];
  if (region === "") {
    throw new CliError(
      `Cannot run: failed to determine region to acquire lease for ${profile.ipPool}`,
      "Name the resources of the profile's pool <region>--<anything>",
      exitCodes.badConfiguration,
    );
  }
  return [{ pool: `${profile.ipPool}-${region}`, min: addresses, max: addresses }];
}

/** Parses `ips`, `ips:13` and `ips:9-13`. */
export const parseOptionalLease: Parse<OptionalLease> = (text) => {
  const [, pool = "", least, most] = /^([^:]+)(?::(?:(\d+)-)?(\d+))?$/.exec(text) ?? [];
  const { count: max } = poolCount(most === undefined ? text : `${pool}:${most}`);
  const min = Number(least ?? 1);
  if (pool !== "" && min <= max) return { pool, min, max };
  throw new InvalidValue("its minimum exceeds its maximum", "Write it like ips:13 or ips:9-13");
};
