import { Problem } from "../api/problem.ts";
import { BerthUnreachable, LeaseLost, NotGranted } from "../client/errors.ts";
import { ApiUnreachable, NoKubeConfig, NoSlotInTime } from "../kubernetes/errors.ts";
import { exitCodes } from "./exit-codes.ts";
import { plain } from "./terminal/text.ts";

/** A failure of ours that knows its words and its exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly hint: string;
  readonly exitCode: number;

  constructor(message: string, hint: string, exitCode: number) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

export function usageError(message: string, hint: string): CliError {
  return new CliError(message, hint, exitCodes.usage);
}

/** A signal ended it before there was a command to pass it on to. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("Interrupted");
    this.exitCode = exitCode;
  }
}

export interface Failure {
  readonly message: string;
  readonly hint: string;
  readonly exitCode: number;
}

/** What to tell about an error, or undefined if it is a bug and deserves its stack. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ApiUnreachable) return { ...worded(error), exitCode: exitCodes.unreachable };
  if (error instanceof NoKubeConfig) return { ...worded(error), exitCode: exitCodes.usage };
  if (error instanceof NoSlotInTime) return { ...worded(error), exitCode: exitCodes.notGranted };
  if (error instanceof BerthUnreachable) {
    const hint = "Check --server or BERTH_URL, and that the server runs: berth serve";
    return { message: error.message, hint, exitCode: exitCodes.unreachable };
  }
  if (error instanceof NotGranted) return { ...worded(error), exitCode: exitCodes.notGranted };
  if (error instanceof LeaseLost) return { ...worded(error), exitCode: exitCodes.leaseLost };
  if (error instanceof Problem) {
    return {
      ...{ message: plain(error.message), hint: plain(hintFor(error)) },
      exitCode: exitCodeOf(error),
    };
  }
  return isTold(error) ? error : undefined;
}

/** The server's own reasons not to start know their words too. */
function isTold(error: unknown): error is Error & Failure {
  return error instanceof Error && "hint" in error && "exitCode" in error;
}

function worded({ message, hint }: { message: string; hint: string }) {
  return { message: plain(message), hint };
}

function hintFor({ code, hint, facts }: Problem): string {
  if (typeof facts["nearest"] === "string") return hint; // It is a name, which is typed alike.
  return hintByCode[code] ?? hint.replace("See /docs for", "See --help of the command for");
}

/** The server speaks of its API; who types commands is told of commands. */
const hintByCode: Readonly<Record<string, string>> = {
  resource_not_found: "See them: berth resources",
  request_not_found: "See who waits: berth queue",
  lease_not_found: "See who holds what: berth leases",
  claim_not_found: "See its claims: berth leases -o yaml",
  pool_not_in_lease: "See what it has: berth leases -o wide",
  lease_ended: "Stop using its resources, then ask for a new lease",
  lease_not_granted: "See why it waits: berth explain; it leaves when the command that waits ends",
  request_ended: "Ask again, with a new --request-id",
  request_granted: "It waits no longer; see what it holds: berth leases",
  request_id_reused: "Use a new --request-id for a new request",
  token_missing: "Pass --token or set BERTH_TOKEN; operators use --force --reason WHY",
  token_wrong: "Use the token that came with this lease; operators use --force --reason WHY",
  resource_held: "Drain it instead: berth drain; or end its lease: berth release --force",
  state_reserved:
    "Use free, dirty, quarantined or a state of your own; to keep it from being lent: berth drain",
  strategy_not_allowed: "Leave --strategy out, or have it added to the strategies of the pool",
  lent_whole: "Ask with --pool POOL:COUNT alone",
  lent_by_amount: "Say how much of it: --amount KEY=NUMBER; berth show-pools tells of what",
  events_pruned: "See how things are: berth status; then follow from now on: berth events",
  too_many_waits: "Try again in a moment",
  not_found: "Use the same version as the server; this one's: berth --version",
};

function exitCodeOf({ status, code }: Problem): number {
  if (code === "lease_ended") return exitCodes.leaseLost;
  if (code === "unexpected_reply" || status >= 500 || status === 429) return exitCodes.unreachable;
  if (status === 404 || status === 410) return exitCodes.notFound;
  return status === 400 ? exitCodes.usage : exitCodes.refused;
}
