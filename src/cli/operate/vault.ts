import { existsSync } from "node:fs";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag } from "../flags.ts";
import { dataFolder, offlineOptions } from "../setup/data-folder.ts";
import { countOf } from "../terminal/text.ts";
import { fromEnvironment } from "../values.ts";

interface Flags {
  readonly data?: string;
  readonly vaultKey?: string;
  readonly newKey: boolean;
}

const rotate: CliCommand = {
  options: [
    ...offlineOptions,
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

Example:
  berth vault rotate --data /var/lib/berth`,
  async run({ flags, print }) {
    const { data, vaultKey, newKey } = flags<Flags>();
    const folder = dataFolder(data);
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
    const keys =
      vaultKey ?? fromEnvironment("BERTH_VAULT_KEY", (text) => text) ?? keyFilePath(folder);
    const vault = new SqliteVault(path, keys);
    try {
      const { resealed, failed } = await (newKey ? vault.rotate() : vault.reseal());
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

function vaultFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "VaultUnusable") return error;
  const hint = "hint" in error ? String(error.hint) : "";
  return new CliError(error.message, hint, exitCodes.unreachable);
}

export const vault: CliCommand = {
  subcommands: { rotate: { summary: "Seal all secrets with a new key", command: rotate } },
};
