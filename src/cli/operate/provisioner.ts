import { roughDuration } from "../../core/model/time.ts";
import { callsAtOnceDefault } from "../../workers/provisioner/limits.ts";
import type { ProvisionerConfig } from "../../workers/provisioner/provisioner.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError, usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { userAtHost } from "../run/holder.ts";
import { exitCodeOfSignal } from "../run/signals.ts";
import { plain } from "../terminal/text.ts";
import { wholeNumber } from "../values.ts";

interface Flags {
  readonly config?: string;
  readonly data?: string;
  readonly parallel?: number;
}

export const provisioner: CliCommand = {
  options: [
    flag("--config <file>", "use the templates: of this configuration file"),
    flag("--data <folder>", "where to keep templates that clusters still need; default: memory"),
    flag(
      "--parallel <n>",
      `how many driver calls at the same time; default ${callsAtOnceDefault}`,
      wholeNumber(1, 1_000),
    ),
  ],
  help: `
Makes, hibernates, wakes and destroys the clusters of a server that runs with --no-provisioner. The
credentials of the drivers need to be here only, not where the server is. FILE has the same templates
as the server's file, and is read again when it changes. The token needs the role worker.
Several may run at the same time: each cluster has one worker at a time.`,
  async run(context) {
    const { config } = context.flags<Flags>();
    if (config === undefined) {
      throw usageError("Cannot make clusters: no file is given", "Add --config FILE");
    }
    return workUntilSignal(context, config);
  },
};

/** Reads the file. A bad one is an error at the start, and ignored with a note later. */
async function templatesIn(file: string): Promise<ProvisionerConfig> {
  const { loadConfig } = await import("../../config/load.ts");
  const { formatProblem } = await import("../../config/document.ts");
  const parsed = await loadConfig(file);
  if (!parsed.ok) {
    const [first] = parsed.problems;
    const what = first === undefined ? file : formatProblem(first);
    throw new CliError(what, `Check it: berth config check ${file}`, exitCodes.badConfiguration);
  }
  if (parsed.templates.length > 0) return parsed;
  throw usageError(
    `Cannot make clusters: ${file} has no templates`,
    "Add templates: { NAME: { driver: command, command: [./driver.sh] } }",
  );
}

async function workUntilSignal(context: Context, file: string): Promise<number> {
  const { client, note, flags } = context;
  const { data, parallel = callsAtOnceDefault } = flags<Flags>();
  const { ClientWork } = await import("../../workers/provisioner/client-work.ts");
  const { Provisioner } = await import("../../workers/provisioner/provisioner.ts");
  const { watchConfig } = await import("../../config/watch.ts");
  const { Redactor } = await import("../../vault/redactor.ts");
  const config = await templatesIn(file);
  await client.everyPool();
  const mask = new Redactor();
  const say = (text: string) => note(plain(mask.clean(text)));
  const work = new ClientWork(client, `provisioner/${userAtHost()}`);
  const worker = new Provisioner(work, config, {
    ...{ parallel, mask, ...(data === undefined ? undefined : { folder: data }) },
    started: ({ resource, phase }) => say(`${resource}: ${phase}`),
    finished: ({ resource, phase }, { state, failure }, durationMs) => {
      const end = [state ?? (failure === undefined ? "interrupted" : "tries again"), failure];
      const why = end.filter((part) => part !== undefined).join(": ");
      say(`${resource}: ${phase} after ${roughDuration(durationMs)}: ${why}`);
    },
    lost: ({ resource }, why) => say(`${resource}: lost: ${why}`),
    orphan: ({ name, instance }, isDestroyed) =>
      say(`${name} (${instance}): nobody knows it${isDestroyed ? "; it is destroyed" : ""}`),
    retrying: (cause) => say(`berth: ${String(cause)}; retrying`),
  });
  const watch = await watchConfig(file, (parsed) => {
    if (parsed.ok) worker.configure(parsed);
    else say(`berth: ${file} is bad; the old templates stay in use`);
  });
  say(
    `Making clusters of ${config.templates.map(({ name }) => name).join(", ")} for ${client.url}; Ctrl-C stops it`,
  );
  const signal = await new Promise<"SIGINT" | "SIGTERM">((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve(name));
  });
  await watch.close();
  await worker.stop();
  return exitCodeOfSignal(signal);
}
