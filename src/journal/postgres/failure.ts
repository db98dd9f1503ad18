import { JournalUnavailable, JournalUnusable } from "../journal.ts";

/** The connection failed or was too slow: nobody knows whether the statement was executed. */
export class ConnectionLost extends JournalUnavailable {}

const lostHint = "Check that PostgreSQL runs and that this machine reaches it";
/** What `pg` says if TLS is wanted and PostgreSQL has none. */
export const noTls = "The server does not support SSL connections";
const noTlsHint =
  "Set up TLS in PostgreSQL (ssl = on); without TLS: sslmode=disable or sslmode=prefer in the address";

/** Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html */
const lost = /^(08...|57P0[1-4])$/;
/** The statement had no effect, and may succeed later. */
const passing: Readonly<Record<string, string>> = {
  "25": "It is a standby or read-only; the journal needs the primary",
  "40": "Another transaction was in the way; the server tries again",
  "53": "Check the disk, the memory and max_connections of PostgreSQL",
  "55": "Another transaction was in the way; the server tries again",
  "57": "An administrator has cancelled the statement",
  "58": "Check the disk of PostgreSQL",
};
const settings: Readonly<Record<string, string>> = {
  "28": "Check the user and its password (PGPASSFILE, PGPASSWORD), and pg_hba.conf of PostgreSQL",
  "3D": "Create the database: createdb NAME",
  "3F": "Create the schema, or let the user create it: GRANT CREATE ON DATABASE … TO …",
  "42": "Give the user the rights on the schema: GRANT CREATE ON DATABASE … TO …; or let it own the schema",
};

/** Errors of Node about a connection, and those of the package `pg`, which have no code. */
const networkCodes =
  /^(E[A-Z_]+|CERT_[A-Z_]+|UNABLE_TO_[A-Z_]+|DEPTH_ZERO_[A-Z_]+|SELF_SIGNED_[A-Z_]+)$/;
const certificateCodes = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT)/;
const networkMessages =
  /connection|terminated|timeout|not queryable|does not support SSL|Client was closed|server closed/i;

/**
 * Converts an error of PostgreSQL to an error of the journal. `name` is the address without the
 * password. Any other error is a bug and is returned as it is.
 */
export function postgresFailure(error: unknown, verb: string, name: string): unknown {
  if (!(error instanceof Error) || isOfJournal(error)) return error;
  const code = codeOf(error);
  const message = `Cannot ${verb} the journal ${name}: ${reasonOf(error)}`;
  const is = (found: string | undefined) => found !== undefined && isSqlState(code);
  if (isSqlState(code) && lost.test(code)) {
    return new ConnectionLost(message, { cause: error, hint: lostHint });
  }
  const later = passing[code.slice(0, 2)];
  if (is(later)) return new JournalUnavailable(message, { cause: error, hint: later ?? lostHint });
  const setting = settings[code.slice(0, 2)];
  if (is(setting)) return new JournalUnusable(message, setting ?? "", { cause: error });
  if (isSqlState(code) && /^(XX|22|23)/.test(code)) {
    const hint = "List the damage with: berth journal check; then restore a backup";
    return new JournalUnusable(message, hint, { cause: error });
  }
  if (certificateCodes.test(code)) {
    const hint = "Name the authority of its certificate with sslrootcert=FILE";
    return new ConnectionLost(message, { cause: error, hint });
  }
  const isNetwork = (networkCodes.test(code) && code !== "ENOENT") || networkMessages.test(message);
  if (!isNetwork) return error;
  const hint = message.endsWith(noTls) ? noTlsHint : lostHint;
  return new ConnectionLost(message, { cause: error, hint });
}

/** Serialisation failures and deadlocks: the same statement is tried again. */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && /^40/.test(codeOf(error)) && isSqlState(codeOf(error));
}

function isOfJournal(error: Error): boolean {
  return error.name.startsWith("Journal") || error instanceof ConnectionLost;
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Several addresses of one host fail together, and then the message is empty. */
function reasonOf(error: Error): string {
  if (error.message !== "") return error.message;
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? first.message : codeOf(error) || error.name;
}
