/** What a holder tells of its provider, with `berth signal` or as it gives back. */
import { Option } from "commander";
import { limits } from "../../api/limits.ts";
import { type CliError, usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { matching } from "../values.ts";

export interface ReportFlags {
  readonly throttled?: boolean;
  readonly ok?: boolean;
  readonly evidence?: string;
}

export interface Report {
  readonly throttled: boolean;
  readonly evidence?: string;
}

export function reportOptions(): Option[] {
  return [
    new Option("--throttled", "the provider throttled you: the pool starts fewer for a while"),
    new Option("--ok", "all went well"),
    flag(
      "--evidence <text>",
      "what the provider said, kept with the change",
      matching(/\S/, limits.evidenceLengthMax, "some words"),
    ),
  ];
}

/** Undefined: nothing is to be told. */
export function reportOf(flags: ReportFlags, verb: string): Report | undefined {
  const { throttled = false, ok = false, evidence } = flags;
  if (throttled && ok) throw unclear(verb, "both --throttled and --ok are given");
  if (!throttled && !ok) {
    if (evidence === undefined) return undefined;
    throw unclear(verb, "--evidence is given, and not what it proves");
  }
  return { throttled, ...(evidence === undefined ? undefined : { evidence }) };
}

export function unclear(verb: string, state: string): CliError {
  return usageError(`Cannot ${verb}: ${state}`, "Write --throttled, or --ok");
}
