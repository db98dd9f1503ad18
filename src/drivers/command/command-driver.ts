/**
 * Clusters that a program makes. The verb is the argument after the words of `command`, the request
 * is a JSON object on standard input, the reply is the last line of standard output, and standard
 * error is the log. The exit code tells how the call ended.
 */
import {
  Absent,
  type AccessBundle,
  type CallOptions,
  type Capabilities,
  type ClusterRef,
  type ClusterSpec,
  Conflict,
  type Driver,
  type DriverError,
  Hopeless,
  type Json,
  type ListedCluster,
  type LogBudget,
  type Observation,
  Retry,
  type Validated,
} from "../driver.ts";
import { noMask, type SecretMask } from "../secret-mask.ts";
import { inheritedVariables } from "./inherited-variables.ts";
import { BadReply, handleOf, parseReply, type Reply, type Verb } from "./replies.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";
import { withSecretFile } from "./secret-folder.ts";

export interface CommandSettings {
  /** A program and its first arguments; no shell reads them. */
  readonly command: readonly string[];
  /** Where it runs: the folder of the configuration file. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** For one call. */
  readonly timeoutMs: number;
  readonly hibernates: boolean;
  /** Whether the program knows `validate`. */
  readonly validates?: boolean;
  /** Passed in a file, whose path is in BERTH_CREDENTIALS. Never in arguments or variables. */
  readonly credentials: Readonly<Record<string, string>>;
}

/** Beyond this a program is ended; one that prints progress stays far below it. */
const outputBytesMax = 16 * 1024 * 1024;
/** The last line must fit. A kubeconfig has a few kilobytes; a list of 10,000 clusters has two megabytes. */
const replyBytesMax = 4 * 1024 * 1024;
const logKeptBytes = 16 * 1024;
/** How much of the log an error message quotes. */
const quotedLengthMax = 2_000;

const errorByCode: Readonly<Record<number, new (message: string) => DriverError>> = {
  10: Retry,
  20: Hopeless,
  30: Absent,
  40: Conflict,
};

export class CommandDriver implements Driver {
  readonly capabilities: Capabilities;
  readonly #settings: CommandSettings;
  readonly #mask: SecretMask;

  constructor(settings: CommandSettings, mask: SecretMask = noMask) {
    this.#settings = settings;
    this.#mask = mask;
    this.capabilities = { hibernates: settings.hibernates, mintsAccess: false };
    for (const value of Object.values(settings.credentials)) mask.registerDocument(value);
  }

  async validate(about: Validated, options: CallOptions = {}): Promise<void> {
    const { name: template, revision, pinned: parameters } = about;
    if (this.#settings.validates) {
      await this.#call("validate", { template, revision, parameters }, options);
    }
  }

  async create(spec: ClusterSpec, options: CallOptions = {}): Promise<Json> {
    const reply = await this.#call("create", spec, options);
    return this.#checked("create", () => handleOf(reply));
  }

  async observe(ref: ClusterRef, options: CallOptions = {}): Promise<Observation> {
    try {
      return await this.#call("observe", refOf(ref), options);
    } catch (error) {
      if (error instanceof Absent) return { phase: "absent" };
      throw error;
    }
  }

  async credentials(ref: ClusterRef, options: CallOptions = {}): Promise<AccessBundle> {
    const bundle = await this.#call("credentials", refOf(ref), options);
    this.#mask.registerDocument(bundle.kubeconfig);
    if (bundle.password !== undefined) this.#mask.register(bundle.password);
    return bundle;
  }

  async hibernate(ref: ClusterRef, options: CallOptions = {}): Promise<void> {
    this.#mustHibernate("hibernate");
    await this.#call("hibernate", refOf(ref), options);
  }

  async resume(ref: ClusterRef, options: CallOptions = {}): Promise<void> {
    this.#mustHibernate("resume");
    await this.#call("resume", refOf(ref), options);
  }

  async destroy(ref: ClusterRef, options: CallOptions = {}): Promise<void> {
    try {
      await this.#call("destroy", refOf(ref), options);
    } catch (error) {
      // Absent, or the name belongs to another instance by now: there is nothing of ours.
      if (!(error instanceof Absent || error instanceof Conflict)) throw error;
    }
  }

  async list(options: CallOptions = {}): Promise<readonly ListedCluster[]> {
    const { instances } = await this.#call("list", {}, options);
    return instances;
  }

  async logs(ref: ClusterRef, budget: LogBudget, options: CallOptions = {}): Promise<string> {
    const timeMsMax = Math.min(budget.timeMsMax, this.#settings.timeoutMs);
    const end = await this.#run("logs", refOf(ref), {
      ...options,
      timeMsMax,
      keep: budget.bytesMax,
    });
    const note = end.code === 0 ? "" : `\n[${this.#name("logs")} ${end.why}]\n`;
    return this.#mask.clean(end.stdout + note);
  }

  #mustHibernate(verb: Verb): void {
    if (this.capabilities.hibernates) return;
    throw new Hopeless(`Cannot ${verb} the cluster: its driver does not hibernate clusters`);
  }

  async #call<Name extends Verb>(
    verb: Name,
    request: object,
    options: CallOptions,
  ): Promise<Reply<Name>> {
    const timeMsMax = this.#settings.timeoutMs;
    const end = await this.#run(verb, request, { ...options, timeMsMax, keep: replyBytesMax });
    if (end.code === 0) return this.#checked(verb, () => parseReply(verb, end.stdout));
    const Failure = end.code === undefined ? Retry : (errorByCode[end.code] ?? Retry);
    throw new Failure(this.#failure(verb, end));
  }

  /** A bad reply may be a bug of the program, or half a reply: it is tried again until the deadline. */
  #checked<Value>(verb: Verb, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof BadReply)) throw error;
      throw new Retry(`${this.#name(verb)} exited with 0, but ${error.message}`);
    }
  }

  #run(
    verb: Verb | "logs",
    request: object,
    { signal, timeMsMax, keep }: CallOptions & { timeMsMax: number; keep: number },
  ): Promise<ProgramEnd> {
    const { command, folder, env, credentials } = this.#settings;
    return withSecretFile(credentials, (path) =>
      runProgram({
        command: [...command, verb],
        folder,
        env: {
          ...inheritedVariables(),
          ...env,
          ...(path === undefined ? undefined : { BERTH_CREDENTIALS: path }),
        },
        input: `${JSON.stringify(request)}\n`,
        timeMsMax,
        outputBytesMax,
        keepBytes: { stdout: keep, stderr: logKeptBytes },
        signal,
      }),
    );
  }

  /** The log explains most: its last lines are the message. */
  #failure(verb: Verb, { stderr, why }: ProgramEnd): string {
    const said = this.#mask.clean(printable(stderr)).trim().slice(-quotedLengthMax);
    return said === "" ? `${this.#name(verb)} ${why}` : `${said} (${this.#name(verb)} ${why})`;
  }

  #name(verb: string): string {
    const [program = ""] = this.#settings.command;
    return `${program.split("/").at(-1)} ${verb}`;
  }
}

function refOf({ name, instance, handle }: ClusterRef): object {
  return { name, instance, ...(handle === undefined || handle === null ? undefined : { handle }) };
}

/** Control characters of a log would reach terminals. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
}
