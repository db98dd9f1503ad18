/** Creates the schema of the journal or upgrades it, and reads what is created with it. */
import { randomBytes } from "node:crypto";
import { damageHint, secretChecksum } from "../checksum.ts";
import { formatKey } from "../format.ts";
import { JournalUnusable, mustKnowFormat, unfinishedCopy } from "../journal.ts";
import type { Connections } from "./connections.ts";
import type { Row } from "./database.ts";
import { migrations as known, type Migration, oldestReader } from "./migrations.ts";
import { statementsFor } from "./statements.ts";

interface Meta {
  readonly secret: string;
  /** The newest format of events that the journal may have. */
  readonly format: number;
}

/**
 * Throws `JournalUnusable` if the schema belongs to something else or to a newer Berth. `unfinished`:
 * accept a journal into which a copy has begun and not ended.
 */
export async function prepareSchema(
  connections: Connections,
  schema: string,
  migrations: readonly Migration[] = known,
  { unfinished = false }: { readonly unfinished?: boolean } = {},
): Promise<Meta> {
  let meta = await readMeta(connections, schema);
  if (meta === undefined || versionIn(meta) < migrations.length) {
    await migrate(connections, schema, migrations);
    meta = (await readMeta(connections, schema)) ?? new Map();
  }
  mustBeKnown(meta, connections.name, migrations.length);
  if (meta.has("copying") && !unfinished) throw unfinishedCopy(connections.name);
  const format = Number(meta.get(formatKey) ?? 1);
  mustKnowFormat(format, connections.name);
  return { secret: secretIn(meta, connections.name), format };
}

/** Undefined if there is no journal yet. */
async function readMeta(
  connections: Connections,
  schema: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const [exists] = await connections.run({
    verb: "open",
    sql: "SELECT to_regclass($1) IS NOT NULL AS exists",
    values: [`"${schema}".meta`],
  });
  if (exists?.["exists"] !== true) return undefined;
  return mapOf(await connections.run({ verb: "open", sql: statementsFor(schema).meta }));
}

/** Only one replica at a time; the others then find nothing left to do. */
async function migrate(
  connections: Connections,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> {
  await connections.transaction("open", async (run) => {
    await run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`berth ${schema}`]);
    const [has] = await run("SELECT to_regnamespace($1) IS NOT NULL AS exists", [`"${schema}"`]);
    // Creating it needs a right that a user may lack for whom an administrator has created it.
    if (has?.["exists"] !== true) await run(`CREATE SCHEMA "${schema}"`);
    const tables = await run("SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace", [
      `"${schema}"`,
    ]);
    const isOurs = tables.some(({ relname }) => relname === "meta");
    if (tables.length > 0 && !isOurs) throw foreign(connections.name);
    await run(`SET LOCAL search_path TO "${schema}"`);
    const meta = mapOf(isOurs ? await run("SELECT key, value FROM meta") : []);
    for (const { sql } of migrations.slice(versionIn(meta))) await run(sql);
    const put = (key: string, value: string | number) =>
      run("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2", [
        key,
        String(value),
      ]);
    await put("version", migrations.length);
    // The mark of a newer format keeps servers out that do not look at it.
    const oldest = Math.max(oldestReader(migrations), Number(meta.get("oldest_reader") ?? 0));
    await put("oldest_reader", oldest);
    if (meta.has("secret")) return;
    const secret = randomBytes(32).toString("base64url");
    await put("secret", secret);
    await put("secret_checksum", secretChecksum(secret));
  });
}

function mapOf(rows: readonly Row[]): Map<string, string> {
  return new Map(rows.map(({ key, value }) => [String(key), String(value)]));
}

function versionIn(meta: ReadonlyMap<string, string>): number {
  return Number(meta.get("version") ?? 0);
}

/** A newer Berth may have added what this one can ignore; it says so. */
function mustBeKnown(meta: ReadonlyMap<string, string>, name: string, version: number): void {
  const oldest = Number(meta.get("oldest_reader") ?? 0);
  if (oldest <= version) return;
  const state = `its schema has version ${versionIn(meta)}, and this Berth knows up to ${version}`;
  throw new JournalUnusable(
    `Cannot open the journal ${name}: ${state}`,
    "Start the newer Berth that wrote it, or restore a backup from before the upgrade",
  );
}

/** A missing secret must not become the text "undefined": anyone could then derive tokens. */
function secretIn(meta: ReadonlyMap<string, string>, name: string): string {
  const secret = meta.get("secret") ?? "";
  if (secret !== "" && meta.get("secret_checksum") === String(secretChecksum(secret))) {
    return secret;
  }
  throw new JournalUnusable(
    `Cannot open the journal ${name}: its secret is missing or damaged`,
    damageHint,
  );
}

function foreign(name: string): JournalUnusable {
  return new JournalUnusable(
    `Cannot open the journal ${name}: its schema has tables of something else`,
    "Choose another schema: postgres://…?schema=NAME",
  );
}
