/** The address of a journal in PostgreSQL, as libpq writes it, and what Berth adds to it. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { JournalUnusable } from "../journal.ts";

const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
export type TlsMode = (typeof tlsModes)[number];

/** What a connection needs. Absent fields come from PGHOST, PGUSER, the password file and so on. */
export interface PostgresAddress {
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** The schema that has the tables of the journal. */
  readonly schema: string;
  readonly tlsMode: TlsMode;
  /** For TLS; undefined if the mode is `disable`. */
  readonly tls: ConnectionOptions | undefined;
  /** For people: where it is, without user and password. */
  readonly name: string;
}

const defaultSchema = "berth";
/** Short enough for a channel name with a prefix; lower case, so that nobody must quote it. */
const schemaPattern = /^[a-z_][a-z0-9_]{0,39}$/;
const parameters = ["host", "port", "user", "password", "dbname", "schema"];
const tlsParameters = ["sslmode", "sslrootcert", "sslcert", "sslkey"];
const hint = "Write postgres://USER@HOST:PORT/DATABASE; the password belongs in a password file";

export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:/i.test(text);
}

/** Throws `JournalUnusable`. No message has any part of the text, because it may have a password. */
export function parsePostgresAddress(
  text: string,
  environment: NodeJS.ProcessEnv = process.env,
): PostgresAddress {
  if (!isPostgresAddress(text) || !URL.canParse(text)) {
    throw unusable("it is not an address of the form postgres://HOST/DATABASE");
  }
  const url = new URL(text);
  for (const name of url.searchParams.keys()) {
    if (![...parameters, ...tlsParameters].includes(name)) {
      throw unusable(`it has the unknown parameter "${name.slice(0, 40)}"`);
    }
  }
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined;
  const part = (value: string, name: string) => decoded(value) ?? parameter(name);
  const host = part(url.hostname.replace(/^\[(.*)\]$/, "$1"), "host");
  const database = part(url.pathname.slice(1), "dbname");
  const schema = parameter("schema") ?? defaultSchema;
  if (!schemaPattern.test(schema)) {
    throw unusable("its schema is not a name of lower-case letters, digits and _");
  }
  const port = portIn(part(url.port, "port"));
  const tlsMode = tlsModeIn(parameter("sslmode") ?? environment["PGSSLMODE"] ?? "prefer");
  const given = { host, port, database };
  const user = part(url.username, "user");
  const password = part(url.password, "password");
  return {
    schema,
    tlsMode,
    tls: tlsMode === "disable" ? undefined : tlsOptions(tlsMode, parameter, environment),
    name: describe(given, schema, environment),
    ...(host === undefined ? undefined : { host }),
    ...(port === undefined ? undefined : { port }),
    ...(user === undefined ? undefined : { user }),
    ...(password === undefined ? undefined : { password }),
    ...(database === undefined ? undefined : { database }),
  };
}

function decoded(value: string): string | undefined {
  if (value === "") return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    throw unusable("a part of it is not encoded correctly");
  }
}

function portIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port > 0 && port < 65_536) return port;
  throw unusable("its port is not a number from 1 to 65535");
}

function tlsModeIn(text: string): TlsMode {
  const mode = text === "allow" ? "prefer" : tlsModes.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw unusable(`its sslmode is none of ${tlsModes.join(", ")}`);
}

/** As libpq: `prefer` and `require` encrypt, `verify-ca` knows the authority, `verify-full` the host. */
function tlsOptions(
  mode: TlsMode,
  parameter: (name: string) => string | undefined,
  environment: NodeJS.ProcessEnv,
): ConnectionOptions {
  const own = (name: string) => {
    const path = join(homedir(), ".postgresql", name);
    return existsSync(path) ? path : undefined;
  };
  const root = parameter("sslrootcert") ?? environment["PGSSLROOTCERT"] ?? own("root.crt");
  const cert = parameter("sslcert") ?? environment["PGSSLCERT"] ?? own("postgresql.crt");
  const key = parameter("sslkey") ?? environment["PGSSLKEY"] ?? own("postgresql.key");
  const checksAuthority = mode.startsWith("verify") || (mode === "require" && root !== undefined);
  return {
    rejectUnauthorized: checksAuthority,
    ...(mode === "verify-full" ? undefined : { checkServerIdentity: () => undefined }),
    ...(root === undefined || root === "system" ? undefined : { ca: fileOf("sslrootcert", root) }),
    ...(cert === undefined || key === undefined
      ? undefined
      : { cert: fileOf("sslcert", cert), key: fileOf("sslkey", key) }),
  };
}

function fileOf(parameter: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "an error";
    throw unusable(`its ${parameter} "${path}" cannot be read (${code})`);
  }
}

function describe(
  given: { host: string | undefined; port: number | undefined; database: string | undefined },
  schema: string,
  environment: NodeJS.ProcessEnv,
): string {
  const host = given.host ?? environment["PGHOST"] ?? "localhost";
  const port = given.port ?? environment["PGPORT"] ?? 5432;
  const database = given.database ?? environment["PGDATABASE"] ?? "";
  return `postgres://${host.includes(":") ? `[${host}]` : host}:${port}/${database}?schema=${schema}`;
}

function unusable(state: string): JournalUnusable {
  return new JournalUnusable(`Cannot use the journal's address: ${state}`, hint, {
    input: "wrong",
  });
}
