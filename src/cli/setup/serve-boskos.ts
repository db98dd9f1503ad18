/** What `berth serve` is told about Boskos's clients, because Boskos's own file cannot say it. */
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

/** Longer than this, clients and proxies take an open request for a dead one. */
const waitMsMax = 60_000;

/** Boskos lets states be anything. */
const anyState: Parse<string> = (text) => {
  if (text.trim() === "") throw new InvalidValue("it is empty", "Name a state such as dirty");
  return text;
};
const states: Parse<readonly string[]> = (text) => text.split(",").map((each) => anyState(each));

export const boskosOptions = [
  flag(
    "--boskos-expire <duration>",
    "take back what a Boskos client has not updated for so long; off unless given",
    duration({ minMs: 1_000 }),
  ),
  flag("--boskos-expire-to <state>", "the state it goes to; dirty unless given", anyState),
  flag(
    "--boskos-expire-states <states>",
    "states that this concerns beside busy, cleaning and leased, with commas",
    states,
  ),
  flag(
    "--request-ttl <duration>",
    "so long a Boskos client keeps its place between two polls; 30s unless given",
    duration({ minMs: 1_000 }),
  ),
  flag(
    "--boskos-wait <duration>",
    "hold a Boskos client's request open so long; 2s unless given, 0 for not at all",
    duration({ maxMs: waitMsMax }),
  ),
];

type BoskosSettings = Pick<ServeOptions, "boskosExpiry" | "requestTtlMs" | "boskosWaitMs">;

export function boskosSettings(flags: BoskosFlags): BoskosSettings {
  const { boskosExpire: afterMs, boskosExpireTo: to, boskosExpireStates: moreStates } = flags;
  if (afterMs === undefined && (to !== undefined || moreStates !== undefined)) {
    const name = to === undefined ? "--boskos-expire-states" : "--boskos-expire-to";
    const hint = "Say after how long: --boskos-expire 30m";
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
