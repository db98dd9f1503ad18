import type { Running, ServeOptions } from "../../server/main.ts";
import type { CliCommand } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { countOf } from "../terminal/text.ts";
import { byteSize, duration, fromEnvironment, oneOf, type Parse } from "../values.ts";
import {
  type AddressFlags,
  addressOptions,
  addressSettings,
  sideAddressOptions,
} from "./serve-addresses.ts";
import { type BoskosFlags, boskosOptions, boskosSettings } from "./serve-boskos.ts";
import { type JournalFlags, journalOptions, journalSettings } from "./serve-journal.ts";
import { type TlsFlags, tlsOptions, tlsSettings } from "./serve-tls.ts";

interface Flags extends AddressFlags, BoskosFlags, JournalFlags, TlsFlags {
  readonly config?: string;
  readonly data?: string;
  readonly logLevel?: LogLevel;
  readonly memory?: boolean;
  readonly janitor?: boolean;
  readonly provisioner?: boolean;
  readonly historyRetention?: number;
  readonly auditRetention?: number;
  readonly rebuildHistory?: boolean;
  readonly journalRetention?: number;
  readonly journalSize?: number;
  readonly vaultKey?: string;
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof logLevels)[number];
/** More than ten years is probably a typing error. */
const retention = duration({ minMs: 60_000, maxMs: 3_650 * 24 * 3_600_000 });
/** The journal needs space for a snapshot and for the events since the snapshot before it. */
const journalSize = byteSize(10e6);
const asWritten: Parse<string> = (text) => text;

export const serve: CliCommand = {
  options: [
    flag("--config <file>", "configuration file ($BERTH_CONFIG, else an example)"),
    flag("--data <dir>", "data folder ($BERTH_DATA, else .berth)"),
    ...journalOptions,
    ...addressOptions,
    ...tlsOptions,
    flag(
      "--log-level <level>",
      `one of ${logLevels.join(", ")}; default info ($BERTH_LOG_LEVEL)`,
      oneOf(...logLevels),
    ),
    flag("--no-janitor", "do not clean; run berth janitor --config FILE elsewhere"),
    flag("--no-provisioner", "make no clusters; run berth provisioner --config FILE elsewhere"),
    flag(
      "--history-retention <duration>",
      "how long to store past leases ($BERTH_HISTORY_RETENTION, else 90d)",
      retention,
    ),
    flag(
      "--audit-retention <duration>",
      "how long to store who did what ($BERTH_AUDIT_RETENTION, else 365d)",
      retention,
    ),
    flag(
      "--journal-retention <duration>",
      "how long to keep events ($BERTH_JOURNAL_RETENTION, else 30d)",
      retention,
    ),
    flag(
      "--journal-size <size>",
      "prune older events of a larger journal ($BERTH_JOURNAL_SIZE, else 4GB)",
      journalSize,
    ),
    flag("--rebuild-history", "rebuild the history from the journal, as far as it goes back"),
    flag(
      "--vault-key <file>",
      "keys that seal secrets ($BERTH_VAULT_KEY, else vault.key in the data folder)",
    ),
    flag("--memory", "store nothing on disk; all leases are lost when the server stops"),
    ...sideAddressOptions,
    ...boskosOptions,
  ],
  help: "\nReloads its configuration and certificate when the files change or on HUP. TERM and Ctrl-C stop it.",
  async run({ flags, note }) {
    const given = flags<Flags>();
    const { config, data, memory } = given;
    const file = config ?? fromEnvironment("BERTH_CONFIG", asWritten);
    const retentionMs =
      given.historyRetention ?? fromEnvironment("BERTH_HISTORY_RETENTION", retention);
    const auditRetentionMs =
      given.auditRetention ?? fromEnvironment("BERTH_AUDIT_RETENTION", retention);
    const vaultKey = given.vaultKey ?? fromEnvironment("BERTH_VAULT_KEY", asWritten);
    const { serve: start } = await import("../../server/main.ts");
    const running = await start({
      ...(file === undefined ? undefined : { config: file }),
      data: data ?? fromEnvironment("BERTH_DATA", asWritten) ?? ".berth",
      ...addressSettings(given),
      logLevel: given.logLevel ?? fromEnvironment("BERTH_LOG_LEVEL", oneOf(...logLevels)) ?? "info",
      memory: memory ?? false,
      janitor: given.janitor ?? true,
      provisioner: given.provisioner ?? true,
      ...tlsSettings(given),
      ...journalSettings(given, note),
      ...boskosSettings(given),
      ...(retentionMs === undefined ? undefined : { historyRetentionMs: retentionMs }),
      ...(auditRetentionMs === undefined ? undefined : { auditRetentionMs }),
      rebuildHistory: given.rebuildHistory ?? false,
      ...(vaultKey === undefined ? undefined : { vaultKey }),
      ...journalLimits(given),
    });
    handleSignals(running);
    const { url, pools, resources, configFile } = running;
    const lent = `${countOf(resources, "resource")} of ${countOf(pools, "pool")}`;
    note(`Berth lends ${lent} from ${configFile} at ${url}`);
    // A checkout runs TypeScript, and its command is not in the PATH.
    const command = import.meta.url.endsWith(".ts") ? "bin/berth" : "berth";
    if (file === undefined) note(nextSteps(url, command));
    await running.stopped;
    return undefined;
  },
};

function journalLimits(given: Flags): Pick<ServeOptions, "journalRetentionMs" | "journalBytesMax"> {
  const ageMs = given.journalRetention ?? fromEnvironment("BERTH_JOURNAL_RETENTION", retention);
  const bytes = given.journalSize ?? fromEnvironment("BERTH_JOURNAL_SIZE", journalSize);
  return {
    ...(ageMs === undefined ? undefined : { journalRetentionMs: ageMs }),
    ...(bytes === undefined ? undefined : { journalBytesMax: bytes }),
  };
}

/** The first steps for a user who started the server with the example configuration. */
export function nextSteps(url: string, command: "bin/berth" | "berth"): string {
  const server = url === "http://127.0.0.1:8080" ? "" : `BERTH_URL=${url} `;
  return `
This is the example configuration; pass your own with --config FILE. Try in another terminal:
  ${server}${command} status --watch
  ${server}${command} run --pool aws-account -- sh -c 'echo I have $BERTH_RESOURCE_AWS_ACCOUNT; sleep 20'
  curl -s ${url}/v1/pools/aws-account
or open ${url} in a browser (API documentation at /docs). Ctrl-C stops the server.`;
}

function handleSignals(running: Running): void {
  process.on("SIGHUP", () => void running.reload());
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    // A second signal has no listener any more, so it kills the process.
    process.once(signal, () => void running.stop());
  }
}
