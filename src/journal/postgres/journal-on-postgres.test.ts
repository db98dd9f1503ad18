import { hasPostgres, postgresTest, testDatabase } from "../../../test/test-database.ts";
import { journalSuite } from "../journal.suite.ts";
import { PostgresJournal } from "./postgres.ts";

const database = testDatabase();
const leaseMs = 60_000;

if (!hasPostgres) postgresTest("PostgresJournal passes the suite of all journals", () => {});
else journalSuite("PostgresJournal", makeStore);

async function makeStore() {
  const address = database.address();
  return {
    async open() {
      const journal = await PostgresJournal.open(address);
      // The one that was closed may have died without a word.
      const schema = new URL(address).searchParams.get("schema");
      await database.query(`UPDATE ${schema}.head SET expires_at = '-infinity'`);
      await journal.claim({ id: "a", address: null }, leaseMs);
      return journal;
    },
    async remove() {},
  };
}
