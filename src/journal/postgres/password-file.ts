/** The password of a connection whose address has none, as libpq finds it. */
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import pgpass from "pgpass";
import { JournalUnusable } from "../journal.ts";

/** Without it, other users of the machine could read the password; libpq ignores such a file too. */
const othersMode = 0o077;

/** Called when PostgreSQL asks for a password. Throws `JournalUnusable` if there is none. */
export async function passwordFor(
  connection: pgpass.Connection,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const given = environment["PGPASSWORD"];
  if (given !== undefined && given !== "") return given;
  const file = environment["PGPASSFILE"] || join(homedir(), ".pgpass");
  const unusable = whyUnusable(file);
  const found = unusable ? undefined : await passwordIn(connection);
  if (found !== undefined) return found;
  const { host, port, database, user } = connection;
  const why = unusable ?? `it has no line for ${host}:${port}:${database}:${user}`;
  throw new JournalUnusable(
    `Cannot open the journal: PostgreSQL wants a password, and the password file "${file}" gives none: ${why}`,
    `Write a line HOST:PORT:DATABASE:USER:PASSWORD, chmod 600 the file, and name it with PGPASSFILE`,
  );
}

function passwordIn(connection: pgpass.Connection): Promise<string | undefined> {
  return new Promise((resolve) => {
    pgpass(connection, resolve);
  });
}

function whyUnusable(file: string): string | undefined {
  try {
    const found = statSync(file);
    if (!found.isFile()) return "it is not a file";
    if ((found.mode & othersMode) !== 0) return "other users may read it, so it is ignored";
    accessSync(file, constants.R_OK);
    return undefined;
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isMissing ? "it does not exist" : "this user may not read it";
  }
}
