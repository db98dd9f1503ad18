import { existsSync } from "node:fs";
import type { SqliteVault } from "../../vault/sqlite-vault.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { dataFolder, offlineOptions } from "../setup/data-folder.ts";
import { countOf } from "../terminal/text.ts";
import { fromEnvironment } from "../values.ts";
import { journalPlace } from "./journal-copies.ts";

interface Flags {
  readonly data?: string;
  readonly journal?: string;
  readonly vaultKey?: string;
  readonly newKey: boolean;
}

const rotate: CliCommand = {
  options: [
    ...offlineOptions,
    flag("--journal <url>", "of several servers: postgres://HOST/DATABASE ($BERTH_JOURNAL)"),
    flag(
      "--vault-key <file>",
      "the server's key file ($BERTH_VAULT_KEY, else vault.key in --data)",
    ),
    flag("--no-new-key", "seal with the first key of the file, and leave the file as it is"),
  ],
  help: `
Puts a new key first into the key file, seals every secret with it, and removes the old keys. The
server may run meanwhile. With --no-new-key you add the new key yourself, for a key file that this
machine cannot write: add it as the first line, run this, then remove the old line.

Several servers on one journal share their secrets, and each has the key file. There only
--no-new-key works: add the new key to every file, below the old one; then put it first in every file;
then run this once; then remove the old key.

Examples:
  berth vault rotate --data /var/lib/berth
  berth vault rotate --journal postgres://db/berth --vault-key /etc/berth/vault.key --no-new-key`,
  async run({ flags, print }) {
    const given = flags<Flags>();
    const place = journalPlace(given);
    const { vault, keys } = isPostgres(place) ? await sharedVault(place, given) : await own(given);
    try {
      const { resealed, failed } = await (given.newKey ? vault.rotate() : vault.reseal());
      print(`Sealed ${countOf(resealed, "secret")} with the first key of ${keys}`);
      for (const { kind, owner } of failed) print(`  no key opens the ${kind} of ${owner}`);
      if (failed.length === 0) return exitCodes.ok;
      print("The old keys stay in the file. Put the missing key back into it and rotate again.");
      return exitCodes.badInput;
    } catch (error) {
      throw vaultFailure(error);
    } finally {
      await vault.close();
    }
  },
};

interface Opened {
  readonly vault: Pick<SqliteVault, "rotate" | "reseal" | "close">;
  readonly keys: string;
}

const isPostgres = (place: string) => /^postgres(ql)?:/i.test(place);
const namedKeys = ({ vaultKey }: Flags) =>
  vaultKey ?? fromEnvironment("BERTH_VAULT_KEY", (text) => text);

async function own(flags: Flags): Promise<Opened> {
  const folder = dataFolder(flags.data);
  const { SqliteVault, keyFilePath, vaultPath } = await import("../../vault/sqlite-vault.ts");
  const path = vaultPath(folder);
  if (!existsSync(path)) {
    const hint = "Pass the server's data folder with --data; it has one once a cluster was made";
    throw new CliError(
      `Cannot rotate the keys of "${folder}": it has no vault`,
      hint,
      exitCodes.notFound,
    );
  }
  const keys = namedKeys(flags) ?? keyFilePath(folder);
  return { vault: new SqliteVault(path, keys), keys };
}

async function sharedVault(place: string, flags: Flags): Promise<Opened> {
  const keys = namedKeys(flags);
  if (flags.newKey || keys === undefined) {
    throw usageError(
      "Cannot rotate the keys of several servers: --no-new-key and --vault-key are needed",
      "Put the new key first into the key file of every server; see berth vault rotate --help",
    );
  }
  const { openSharedVault } = await import("../../server/migrate/shared-vault.ts");
  const { vault, close } = await openSharedVault(place, keys);
  const reseal = () => vault.reseal();
  return { vault: { reseal, rotate: reseal, close }, keys };
}

function vaultFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "VaultUnusable") return error;
  const hint = "hint" in error ? String(error.hint) : "";
  return new CliError(error.message, hint, exitCodes.unreachable);
}

export const vault: CliCommand = {
  subcommands: { rotate: { summary: "Seal all secrets with a new key", command: rotate } },
};
