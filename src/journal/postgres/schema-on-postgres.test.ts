import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { postgresTest as test, testDatabase } from "../../../test/test-database.ts";
import { commitChecksum } from "../checksum.ts";
import { at, left, readAll } from "../journal.suite.ts";
import { JournalUnusable, storedCommit } from "../journal.ts";
import { parsePostgresAddress } from "./address.ts";
import { Connections } from "./connections.ts";
import { type Migration, migrations } from "./migrations.ts";
import { PostgresJournal } from "./postgres.ts";
import { prepareSchema } from "./schema.ts";
import { statementsFor } from "./statements.ts";

const database = testDatabase();
const schemaIn = (address: string) => new URL(address).searchParams.get("schema") ?? "";

async function opened(address: string): Promise<void> {
  await (await PostgresJournal.open(address)).close();
}

/** Everything that a migration can change, in words. */
async function describe(schema: string): Promise<unknown> {
  const columns = await database.query(`
    SELECT table_name, column_name, data_type, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = '${schema}' ORDER BY 1, ordinal_position`);
  const rules = await database.query(`
    SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS rule
    FROM pg_constraint WHERE connamespace = '${schema}'::regnamespace ORDER BY 1, 2`);
  const others = await database.query(`
    SELECT relname, relkind, reloptions::text, pg_get_viewdef(oid) AS view FROM pg_class
    WHERE relnamespace = '${schema}'::regnamespace AND relkind <> 't' ORDER BY 1`);
  const functions = await database.query(`
    SELECT proname, pg_get_functiondef(oid) AS text FROM pg_proc
    WHERE pronamespace = '${schema}'::regnamespace ORDER BY 1, 2`);
  const compression = await database.query(`
    SELECT attname, attcompression FROM pg_attribute
    WHERE attrelid = '${schema}.journal'::regclass AND attnum > 0 ORDER BY attnum`);
  const all = { columns, rules, others, functions, compression };
  const text = JSON.stringify(all, undefined, 1);
  return JSON.parse(text.replaceAll(new RegExp(`\\b${schema}\\b[."]*`, "g"), ""));
}

test("prepareSchema() creates the schema in schema.sql", async () => {
  const address = database.address();
  await opened(address);
  const written = readFileSync(new URL("schema.sql", import.meta.url), "utf8");
  await database.query(`CREATE SCHEMA by_hand; SET search_path TO by_hand; ${written}`);
  expect(await describe(schemaIn(address))).toEqual(await describe("by_hand"));
});

/** As a Berth whose schema had this version has left it, with one commit. */
async function written(address: string, version: number): Promise<void> {
  const parsed = parsePostgresAddress(address);
  const connections = await Connections.open(parsed);
  await prepareSchema(connections, parsed.schema, migrations.slice(0, version));
  const commit = storedCommit(0, at(1), [left(1)]);
  const { seq, count, events } = commit;
  const checksum = commitChecksum(0, commit);
  const values = [seq, at(1), count, events, 0, checksum, 0];
  await connections.transaction("append to", async (run) => {
    await run(`SET LOCAL search_path TO ${parsed.schema}`);
    if (version > 1) {
      const append = "SELECT append_commit($1, $2, $3, $4, $5, $6, $7, 'channel')";
      return run(append, values);
    }
    await run("INSERT INTO journal VALUES ($1, $2, $3, $4, $5, $6, $7)", values);
    return run("UPDATE head SET seq = 1, checksum = $1, bytes = $2", [checksum, events.length]);
  });
  await connections.close();
}

test.each(migrations.slice(0, -1).map((_, index) => index + 1))(
  "PostgresJournal.open() opens a journal with the schema of version %i, and goes on with it",
  async (version) => {
    const [address, fresh] = [database.address(), database.address()];
    await written(address, version);
    await opened(fresh);
    const journal = await PostgresJournal.open(address);
    await journal.claim({ id: "a", address: null }, 60_000);
    expect(await journal.append(1, at(2), [left(2)])).toBe(2);
    expect((await readAll(journal)).flatMap(({ events }) => events)).toEqual([left(1), left(2)]);
    await journal.close();
    expect(await describe(schemaIn(address))).toEqual(await describe(schemaIn(fresh)));
  },
);

test.each([
  ["off", "on"],
  ["remote_write", "remote_write"],
])(
  "append_commit() in a session with synchronous_commit = %s commits with %s",
  async (given, used) => {
    const address = database.address();
    await opened(address);
    const parsed = parsePostgresAddress(address);
    const connections = await Connections.open(parsed);
    const found = await connections.transaction("append to", async (run) => {
      await run(`SET LOCAL synchronous_commit = ${given}`);
      const append = statementsFor(parsed.schema).append;
      expect(await run(append, [1, 0, 1, "[]", 0, 0, 0, "channel", 1_000])).toEqual([
        { bytes: "2" },
      ]);
      return run("SHOW synchronous_commit");
    });
    await connections.close();
    expect(found).toEqual([{ synchronous_commit: used }]);
  },
);

test("prepareSchema() works for several replicas that start at the same time", async () => {
  const address = database.address();
  const journals = await Promise.all([1, 2, 3, 4].map(() => PostgresJournal.open(address)));
  expect(new Set(journals.map(({ secret }) => secret)).size).toBe(1);
  await Promise.all(journals.map((journal) => journal.close()));
});

test("prepareSchema() refuses a schema with tables of something else and changes nothing", async () => {
  const address = database.address();
  const schema = schemaIn(address);
  await database.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.customers (id int)`);
  await expect(PostgresJournal.open(address)).rejects.toThrow("tables of something else");
  const tables = await database.query(
    `SELECT relname FROM pg_class WHERE relnamespace = '${schema}'::regnamespace`,
  );
  expect(tables).toEqual([{ relname: "customers" }]);
});

const step = (breaking: boolean): Migration => ({ breaking, sql: "CREATE TABLE added (x int)" });

/** As a newer Berth would leave it. */
async function upgraded(address: string, breaking: boolean): Promise<void> {
  const parsed = parsePostgresAddress(address);
  const connections = await Connections.open(parsed);
  await prepareSchema(connections, parsed.schema, [...migrations, step(breaking)]);
  await connections.close();
}

test("PostgresJournal.open() refuses a journal of a newer Berth, in plain words", async () => {
  const address = database.address();
  await opened(address);
  await upgraded(address, true);
  const known = migrations.length;
  const state = `its schema has version ${known + 1}, and this Berth knows up to ${known}`;
  await expect(PostgresJournal.open(address)).rejects.toThrow(state);
  await expect(PostgresJournal.open(address)).rejects.toThrow(JournalUnusable);
});

test("PostgresJournal.open() accepts what a newer Berth added, if that says so", async () => {
  const address = database.address();
  await opened(address);
  await upgraded(address, false);
  await opened(address);
  const schema = schemaIn(address);
  const version = await database.query(`SELECT value FROM ${schema}.meta WHERE key = 'version'`);
  expect(version).toEqual([{ value: String(migrations.length + 1) }]);
});

test("PostgresJournal.open() refuses a secret that was changed", async () => {
  const address = database.address();
  await opened(address);
  await database.query(`UPDATE ${schemaIn(address)}.meta SET value = 'x' WHERE key = 'secret'`);
  await expect(PostgresJournal.open(address)).rejects.toThrow("its secret is missing or damaged");
});
