/** What a job would like to have beside its leases, and can do without. */
import type { Profile } from "../../api/schemas.ts";
import type { Trial } from "../../workers/proxy/try-up-to.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { InvalidValue, type Parse, poolCount } from "../values.ts";

/** What is known of the job before the command starts. */
export interface Job {
  readonly name: string;
  readonly profile?: Profile | undefined;
  /** As it is told to the command, and what addresses depend on. */
  readonly region?: string | undefined;
}

/** As many addresses as an installation may need, all or none: fewer would fail it half-way. */
const addresses = 13;

export function addressesOf({ profile, region }: Job): Trial[] {
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

/** `ips`, `ips:13` and `ips:9-13`. */
export const trial: Parse<Trial> = (text) => {
  const [, pool = "", least, most] = /^([^:]+)(?::(?:(\d+)-)?(\d+))?$/.exec(text) ?? [];
  const { count: max } = poolCount(most === undefined ? text : `${pool}:${most}`);
  const min = Number(least ?? 1);
  if (pool !== "" && min <= max) return { pool, min, max };
  throw new InvalidValue("its least is more than its most", "Write it like ips:13 or ips:9-13");
};
