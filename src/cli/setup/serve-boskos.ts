/** The flags of `berth serve` for Boskos clients. Boskos's configuration file has no such keys. */
import type { ServeOptions } from "../../server/main.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { duration, InvalidValue, type Parse } from "../values.ts";

export interface BoskosFlags {
  readonly boskosExpire?: number;
  readonly boskosExpireTo?: string;
  readonly boskosExpireStates?: readonly string[];
  readonly requestTtl?: number;
  readonly boskosWait?: number;
}

/** Clients and proxies treat a request that is open for longer as dead. */
const waitMsMax = 60_000;

/** Boskos allows any state name. */
const anyState: Parse<string> = (text) => {
  if (text.trim() === "") throw new InvalidValue("it is empty", "Name a state such as dirty");
  return text;
};
const states: Parse<readonly string[]> = (text) => text.split(",").map((each) => anyState(each));

export const boskosOptions = [
  flag(
    "--boskos-expire <duration>",
    "expire what a Boskos client has not updated for this time; default: off",
    duration({ minMs: 1_000 }),
  ),
  flag("--boskos-expire-to <state>", "state of expired resources; default dirty", anyState),
  flag(
    "--boskos-expire-states <states>",
    "more states that expire besides busy, cleaning and leased, comma-separated",
    states,
  ),
  flag(
    "--request-ttl <duration>",
    "how long a Boskos request stays in the queue without a poll; default 30s",
    duration({ minMs: 1_000 }),
  ),
  flag(
    "--boskos-wait <duration>",
    "how long to keep a Boskos client's HTTP call open; default 2s, 0 for not at all",
    duration({ maxMs: waitMsMax }),
  ),
];

type BoskosSettings = Pick<ServeOptions, "boskosExpiry" | "requestTtlMs" | "boskosWaitMs">;

export function boskosSettings(flags: BoskosFlags): BoskosSettings {
  const { boskosExpire: afterMs, boskosExpireTo: to, boskosExpireStates: moreStates } = flags;
  if (afterMs === undefined && (to !== undefined || moreStates !== undefined)) {
    const name = to === undefined ? "--boskos-expire-states" : "--boskos-expire-to";
    const hint = "Add the time, such as --boskos-expire 30m";
    throw usageError(`Cannot use ${name}: nothing expires without --boskos-expire`, hint);
  }
  return {
    ...(afterMs === undefined
      ? undefined
      : { boskosExpiry: { afterMs, to: to ?? "dirty", moreStates: moreStates ?? [] } }),
    requestTtlMs: flags.requestTtl ?? 30_000,
    boskosWaitMs: flags.boskosWait ?? 2_000,
  };
}
