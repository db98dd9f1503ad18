import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { type BoskosFlags, boskosOptions, boskosSettings } from "./serve-boskos.ts";

function settings(...argv: string[]) {
  const command = new Command().exitOverride();
  for (const option of boskosOptions) command.addOption(option);
  return boskosSettings(command.parse(argv, { from: "user" }).opts<BoskosFlags>());
}

describe("boskosSettings()", () => {
  const usual = { requestTtlMs: 30_000, boskosWaitMs: 2_000 };

  test("expires nothing by default", () => {
    expect(settings()).toEqual(usual);
  });

  test("reads its flags", () => {
    const args = "--boskos-expire 30m --request-ttl 1m --boskos-wait 0";
    expect(settings(...args.split(" "))).toEqual({
      boskosExpiry: { afterMs: 1_800_000, to: "dirty", moreStates: [] },
      requestTtlMs: 60_000,
      boskosWaitMs: 0,
    });
    const more = "--boskos-expire 1h --boskos-expire-to free --boskos-expire-states testing,in use";
    const words = more.split(/ (?!use)/);
    expect(settings(...words).boskosExpiry).toEqual({
      afterMs: 3_600_000,
      to: "free",
      moreStates: ["testing", "in use"],
    });
  });

  test.each([
    ["--boskos-expire-to dirty", "Cannot use --boskos-expire-to: nothing expires without"],
    ["--boskos-expire-states a", "Cannot use --boskos-expire-states: nothing expires without"],
    ["--boskos-expire 30", 'Cannot use --boskos-expire "30": it is not a duration'],
    ["--boskos-expire 0", 'Cannot use --boskos-expire "0": it is too short'],
    ["--boskos-wait 5m", 'Cannot use --boskos-wait "5m": it is too long'],
    ["--boskos-expire-states a,,b", 'Cannot use --boskos-expire-states "a,,b": it is empty'],
  ])("refuses %s", (line, message) => {
    expect(() => settings(...line.split(" "))).toThrow(message);
  });
});
