import { Problem } from "../api/problem.ts";
import { BerthUnreachable, LeaseLost, NotGranted } from "../client/errors.ts";
import { ApiUnreachable, NoKubeConfig, NoSlotInTime } from "../slots/errors.ts";
import { exitCodes } from "./exit-codes.ts";
import { plain } from "./text.ts";

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
    const hint = hintByCode[error.code] ?? error.hint;
    return { message: plain(error.message), hint: plain(hint), exitCode: exitCodeOf(error) };
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

/** The server speaks of its API; who types commands is told of commands. */
const hintByCode: Readonly<Record<string, string>> = {
  request_not_found: "See who waits: berth queue",
  lease_not_found: "See who holds what: berth leases",
  claim_not_found: "See its claims: berth leases -o yaml",
  lease_ended: "Stop using its resources, then ask for a new lease",
  request_ended: "Ask again, with a new --request-id",
  request_id_reused: "Use a new --request-id for a new request",
  token_missing: "Pass --token or set BERTH_TOKEN; operators use --force --reason WHY",
  token_wrong: "Use the token that came with this lease; operators use --force --reason WHY",
  resource_held: "Drain it instead: berth drain; or end its lease: berth release --force",
};

function exitCodeOf({ status, code }: Problem): number {
  if (code === "lease_ended") return exitCodes.leaseLost;
  if (code === "unexpected_reply" || status >= 500 || status === 429) return exitCodes.unreachable;
  if (status === 404 || status === 410) return exitCodes.notFound;
  return status === 400 ? exitCodes.usage : exitCodes.refused;
}
