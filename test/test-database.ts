/** A database of its own for each test file, on the server that all of them share. */
import { Client } from "pg";
import { afterAll, beforeAll, inject, test } from "vitest";

const port = inject("postgresPort");

/** Skips the tests of a file where there is no PostgreSQL. `test/left-out.ts` says so at the end. */
export const postgresTest = test.skipIf(port === 0);
export const hasPostgres = port !== 0;

export interface TestDatabase {
  /** The address of a journal in a schema that no other call has got. */
  address(): string;
  /** The same, through another port. */
  through(otherPort: number, schema: string): string;
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** A connection of its own, which the caller ends. */
  client(): Promise<Client>;
  readonly port: number;
}

async function run(database: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(`postgres://postgres@127.0.0.1:${port}/${database}`);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

export function testDatabase(): TestDatabase {
  const name = `berth_${process.pid}_${Math.random().toString(36).slice(2)}`;
  let schemas = 0;
  beforeAll(async () => {
    if (hasPostgres) await run("postgres", `CREATE DATABASE ${name}`);
  });
  afterAll(async () => {
    if (hasPostgres) await run("postgres", `DROP DATABASE ${name} WITH (FORCE)`);
  });
  const through = (other: number, schema: string) =>
    `postgres://postgres@127.0.0.1:${other}/${name}?schema=${schema}`;
  return {
    port,
    address() {
      schemas += 1;
      return through(port, `berth_${schemas}`);
    },
    through,
    query: (sql) => run(name, sql),
    async client() {
      const client = new Client(`postgres://postgres@127.0.0.1:${port}/${name}`);
      await client.connect();
      return client;
    },
  };
}
