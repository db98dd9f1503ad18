import { PostgresJournal } from "../../journal/postgres/postgres.ts";
import { SharedVault } from "../../vault/shared-vault.ts";

/** The vault of several servers, for a command. */
export async function openSharedVault(
  address: string,
  keyFile: string,
): Promise<{ readonly vault: SharedVault; close(): Promise<void> }> {
  const journal = await PostgresJournal.open(address);
  return { vault: new SharedVault(journal.sealedRows, keyFile), close: () => journal.close() };
}
