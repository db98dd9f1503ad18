/** A holder's report about its cloud provider, sent by `berth signal` or `berth release`. */
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

export interface ProviderReport {
  readonly throttled: boolean;
  readonly evidence?: string;
}

export function reportOptions(): Option[] {
  return [
    new Option(
      "--throttled",
      "report that the provider throttled you; the pool starts fewer leases",
    ),
    new Option("--ok", "report that the provider did not throttle you"),
    flag(
      "--evidence <text>",
      "the provider's message, stored with the report",
      matching(/\S/, limits.evidenceLengthMax, "text"),
    ),
  ];
}

/** Returns undefined if no flag of a report is given. `verb` is for the error message. */
export function parseReport(flags: ReportFlags, verb: string): ProviderReport | undefined {
  const { throttled = false, ok = false, evidence } = flags;
  if (throttled && ok) throw reportUsageError(verb, "both --throttled and --ok are given");
  if (!throttled && !ok) {
    if (evidence === undefined) return undefined;
    throw reportUsageError(verb, "--evidence is given without --throttled or --ok");
  }
  return { throttled, ...(evidence === undefined ? undefined : { evidence }) };
}

export function reportUsageError(verb: string, state: string): CliError {
  return usageError(`Cannot ${verb}: ${state}`, "Use either --throttled or --ok");
}
