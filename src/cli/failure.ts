import { Problem } from "../api/problem.ts";
import { BerthUnreachable, LeaseLost, NotGranted } from "../client/errors.ts";
import { ApiUnreachable, NoKubeConfig, NoSlotInTime } from "../kubernetes/errors.ts";
import { exitCodes } from "./exit-codes.ts";
import { NoIdToken } from "./identity/no-id-token.ts";
import { plain } from "./terminal/text.ts";

/** An error with a message and a hint for the user, and an exit code. */
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

/** A signal interrupted berth itself, not the user's command. */
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

/** Returns what to print for an error, or undefined if it is a bug and needs a stack trace. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ApiUnreachable)
    return { ...messageAndHint(error), exitCode: exitCodes.unreachable };
  if (error instanceof NoKubeConfig) return { ...messageAndHint(error), exitCode: exitCodes.usage };
  if (error instanceof NoSlotInTime)
    return { ...messageAndHint(error), exitCode: exitCodes.notGranted };
  if (error instanceof NoIdToken)
    return { ...messageAndHint(error), exitCode: exitCodes.unreachable };
  if (error instanceof BerthUnreachable) {
    return {
      message: plain(error.message),
      hint: unreachableHint(error),
      exitCode: exitCodes.unreachable,
    };
  }
  if (error instanceof NotGranted) {
    const { message } = messageAndHint(error);
    return { message, hint: notGrantedHint(error), exitCode: exitCodes.notGranted };
  }
  if (error instanceof LeaseLost)
    return { ...messageAndHint(error), exitCode: exitCodes.leaseLost };
  if (error instanceof Problem) {
    return {
      ...{ message: plain(error.message), hint: plain(hintFor(error)) },
      exitCode: exitCodeOf(error),
    };
  }
  return isFailure(error) ? error : undefined;
}

function unreachableHint({ certificate, hint }: BerthUnreachable): string {
  switch (certificate) {
    case undefined:
      return "Check --server or BERTH_URL, and that the server runs: berth serve";
    case "untrusted":
      return "Name the certificate of the authority: --ca-file FILE or BERTH_CA_FILE";
    case "wrong-name":
      return "Set --server or BERTH_URL to a name that its certificate has";
    default:
      return hint;
  }
}

/** Errors of `berth serve` at startup already have a hint and an exit code. */
function isFailure(error: unknown): error is Error & Failure {
  return error instanceof Error && "hint" in error && "exitCode" in error;
}

/** A request for one resource cannot ask for less. */
function notGrantedHint({ request: { items } }: NotGranted): string {
  const count = items.reduce((sum, item) => sum + item.count, 0);
  const amounts = items.some(({ amount }) => amount !== undefined);
  const longer = "Wait longer with --timeout";
  return count > 1 || amounts
    ? `${longer}, or request less`
    : `${longer}; see who holds what: berth leases`;
}

function messageAndHint({ message, hint }: { message: string; hint: string }) {
  return { message: plain(message), hint };
}

function hintFor({ code, hint, facts }: Problem): string {
  if (typeof facts["nearest"] === "string") return hint; // The hint suggests a name, not an API call.
  return hintByCode[code] ?? hint.replace("See /docs for", "See --help of the command for");
}

/** The server's hints name API calls. These name commands instead. */
const hintByCode: Readonly<Record<string, string>> = {
  resource_not_found: "List them: berth resources",
  request_not_found: "List waiting requests: berth queue",
  lease_not_found: "List leases: berth leases",
  claim_not_found: "List its claims: berth leases -o yaml",
  pool_not_in_lease: "List its pools: berth leases -o wide",
  lease_ended: "Stop using its resources, then request a new lease",
  lease_not_granted: "See why it waits: berth explain; to cancel it, stop the command that waits",
  request_ended: "Send a new request, with a new --request-id",
  request_granted: "It has been granted; see its resources: berth leases",
  group_full: "Use another group name",
  request_id_reused: "Use a new --request-id for a new request",
  token_missing: "Pass --token or set BERTH_LEASE_TOKEN; operators use --force --reason WHY",
  unauthenticated: "Use a token that is valid now in --token-file, BERTH_TOKEN or BERTH_TOKEN_FILE",
  issuer_unavailable: "Try again in a moment; if it stays, ask an operator of the server",
  token_wrong: "Use the token that came with this lease; operators use --force --reason WHY",
  resource_held: "Drain it instead: berth drain; or end its lease: berth release --force",
  state_reserved:
    "Use free, dirty, quarantined or a state of your own; to stop lending it: berth drain",
  strategy_not_allowed: "Remove --strategy, or ask the operator to allow it in the pool",
  lent_whole: "The pool is exclusive: use --pool POOL:COUNT, --selector or --resource only",
  amount_missing: "Add --amount KEY=NUMBER; list the keys: berth show-pools",
  lent_by_amount: "The pool is shared: add --amount KEY=NUMBER; list the keys: berth show-pools",
  events_pruned: "Read the current state: berth status; then stream new events: berth events",
  too_many_waits: "Try again in a moment",
  not_found: "Use the same version as the server; check yours: berth --version",
};

function exitCodeOf({ status, code }: Problem): number {
  if (code === "lease_ended") return exitCodes.leaseLost;
  if (code === "bad_setting") return exitCodes.usage; // A typing error in --set.
  if (code === "unexpected_reply" || status >= 500 || status === 429) return exitCodes.unreachable;
  if (status === 404 || status === 410) return exitCodes.notFound;
  return status === 400 ? exitCodes.usage : exitCodes.refused;
}
