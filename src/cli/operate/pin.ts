import { rateMax, rateMin } from "../../core/model/field-kinds.ts";
import type { CliCommand } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { poolNames } from "../show/pools.ts";
import { InvalidValue, matching, type Parse } from "../values.ts";

interface Flags {
  readonly rate?: number;
  readonly reason?: string;
}

const reason = matching(/\S/, 1_024, "a reason in words");

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

const ratePattern = /^(?<count>\d+(?:\.\d+)?)(?:\/(?<per>\d+(?:\.\d+)?)?(?<unit>[smh])?)?$/;

/** Parses `2.5`, `2.5/m`, `30/h` or `1/24s`. Returns starts per minute. */
export const parseStartRate: Parse<number> = (text) => {
  const { count, per = "1", unit = "m" } = ratePattern.exec(text)?.groups ?? {};
  const minutes = (Number(per) * (unitSeconds[unit] ?? 60)) / 60;
  const rate = Number(count) / minutes; // NaN if the text does not match.
  if (rate >= rateMin && rate <= rateMax) return rate;
  const state = `it is not a rate from ${rateMin} to ${rateMax} per minute`;
  throw new InvalidValue(state, "Write starts per minute like 2.5, or 30/h, or 1/24s");
};

/** Rounds to three significant digits: 1/30m is 0.0333 and not 0.03333333333333333. */
export function formatStartRate(rate: number): string {
  return String(rate >= 100 ? Math.round(rate) : Number(rate.toPrecision(3)));
}

export const pin: CliCommand = {
  args: [["<pool>", "the pool whose start rate to fix"]],
  options: [
    flag("--rate <rate>", "starts per minute, such as 2.5, 30/h or 1/24s", parseStartRate),
    flag("--reason <why>", "the reason, stored in the history", reason),
  ],
  help: "\nReports of throttling do not change the rate until berth unpin.",
  completes: poolNames,
  async run({ args: [pool = ""], client, flags, note }) {
    const { rate, reason: why } = flags<Flags>();
    if (rate === undefined) {
      throw usageError(`Cannot pin ${pool}: no rate is given`, "Add it, such as --rate 2.5");
    }
    await client.pin(pool, {
      rate,
      by: userAtHost(),
      ...(why === undefined ? {} : { reason: why }),
    });
    const perMinute = `${formatStartRate(rate)} starts per minute`;
    note(`Pinned ${pool} to ${perMinute}; undo it with: berth unpin ${pool}`);
    return undefined;
  },
};

export const unpin: CliCommand = {
  args: [["<pool>", "the pool whose start rate adapts again"]],
  options: [flag("--reason <why>", "the reason, stored in the history", reason)],
  completes: poolNames,
  async run({ args: [pool = ""], client, flags, note }) {
    const { reason: why } = flags<Flags>();
    await client.unpin(pool, { by: userAtHost(), ...(why === undefined ? {} : { reason: why }) });
    note(`Unpinned ${pool}`);
    return undefined;
  },
};
