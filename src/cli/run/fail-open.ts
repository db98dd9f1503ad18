/** `berth run` without a lease: after an outage, or for any reason. */
import type { Option } from "commander";
import { Problem } from "../../api/problem.ts";
import { BerthUnreachable } from "../../client/berth-client.ts";
import type { Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { failureOf, Interrupted } from "../failure.ts";
import { flag } from "../flags.ts";
import { plain } from "../terminal/text.ts";

export interface FailOpenFlags {
  readonly failOpen?: boolean;
  readonly failOpenAlways?: boolean;
}

export function failOpenOptions(): Option[] {
  return [
    flag("--fail-open", "run CMD without a lease if the server is unreachable or unavailable"),
    flag("--fail-open-always", "also if the lease is refused, lost, or not granted in --timeout"),
  ];
}

/** When the command runs without a lease: never, if the server is not available, or always. */
export type FailOpen = "never" | "outage" | "always";

export function failOpenOf({ failOpen, failOpenAlways }: FailOpenFlags): FailOpen {
  if (failOpenAlways) return "always";
  return failOpen ? "outage" : "never";
}

/** Returns undefined if there is no lease and the flags allow to run without one. */
export async function orFailOpen<T>(
  context: Context,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const failOpen = failOpenOf(context.flags<FailOpenFlags>());
    const mayRun = failOpen === "always" ? !isByUser(error) : isOutage(error);
    if (failOpen === "never" || !mayRun) throw error;
    const { message, hint } = failureOf(error) ?? { message: String(error), hint: "" };
    context.note(`berth: ${plain(message)}`);
    if (failOpen === "always" && hint !== "") context.note(`  ${hint}`);
    const flagName = failOpen === "always" ? "--fail-open-always" : "--fail-open";
    context.note(`berth: RUNNING WITHOUT A LEASE (${flagName}): others may use the same resources`);
    return undefined;
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof BerthUnreachable || (error instanceof Problem && error.status >= 500);
}

/** The user has stopped berth, or has typed a command line that cannot work. */
function isByUser(error: unknown): boolean {
  return error instanceof Interrupted || failureOf(error)?.exitCode === exitCodes.usage;
}
