import { rateMax, rateMin } from "../../core/model/field-kinds.ts";
import type { CliCommand } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { whoIAm } from "../run/holder.ts";
import { poolNames } from "../show/pools.ts";
import { InvalidValue, matching, type Parse } from "../values.ts";

interface Flags {
  readonly rate?: number;
  readonly reason?: string;
}

const reason = matching(/\S/, 1_024, "a reason in words");

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** `2.5`, `2.5/m`, `30/h` or `1/24s`: in starts per minute. */
export const startRate: Parse<number> = (text) => {
  const [, count = "", , per = "", unit = "m"] =
    /^(\d+(?:\.\d+)?)(\/(\d+(?:\.\d+)?)?(s|m|h)?)?$/.exec(text) ?? [];
  const minutes = (Number(per === "" ? "1" : per) * (unitSeconds[unit] ?? 60)) / 60;
  const rate = Number(count) / minutes;
  if (count !== "" && rate >= rateMin && rate <= rateMax) return rate;
  const state = `it is not a rate from ${rateMin} to ${rateMax} a minute`;
  throw new InvalidValue(state, "Write starts per minute like 2.5, or 30/h, or 1/24s");
};

export const pin: CliCommand = {
  args: [["<pool>", "whose start rate is to be held"]],
  options: [
    flag("--rate <rate>", "starts per minute, such as 2.5, 30/h or 1/24s", startRate),
    flag("--reason <why>", "kept in the history, for those who wonder later", reason),
  ],
  help: "\nReports of throttling change nothing until berth unpin.",
  completes: poolNames,
  async run({ args: [pool = ""], client, flags, note }) {
    const { rate, reason: why } = flags<Flags>();
    if (rate === undefined) {
      throw usageError(`Cannot pin ${pool}: no rate is given`, "Say it with --rate 2.5");
    }
    await client.pin(pool, { rate, by: whoIAm(), ...(why === undefined ? {} : { reason: why }) });
    note(`${pool} starts ${rate} a minute until berth unpin ${pool}`);
    return undefined;
  },
};

export const unpin: CliCommand = {
  args: [["<pool>", "whose start rate is to find itself again"]],
  options: [flag("--reason <why>", "kept in the history, for those who wonder later", reason)],
  completes: poolNames,
  async run({ args: [pool = ""], client, flags, note }) {
    const { reason: why } = flags<Flags>();
    await client.unpin(pool, { by: whoIAm(), ...(why === undefined ? {} : { reason: why }) });
    note(`${pool} is not pinned any more`);
    return undefined;
  },
};
