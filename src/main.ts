/** The only place where the parts meet: configuration, journal, broker, edges; started and stopped in order. */
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { Broker } from "./broker/broker.ts";
import { SystemEnvironment } from "./broker/environment.ts";
import { Tokens } from "./broker/tokens.ts";
import { exampleConfigPath } from "./config/example.ts";
import { makeApp } from "./http/app.ts";
import { type App, defaultBoskosSettings } from "./http/site.ts";
import {
  type Journal,
  JournalDamaged,
  JournalUnavailable,
  JournalUnusable,
} from "./journal/journal.ts";
import { MemoryJournal } from "./journal/memory.ts";
import { SqliteJournal } from "./journal/sqlite.ts";
import { CannotServe, exitCodes } from "./serve/cannot-serve.ts";
import { ConfigInForce } from "./serve/config-in-force.ts";
import {
  type ListenAddress,
  parseListenAddress,
  refuseToBeReachable,
} from "./serve/listen-address.ts";
import { type LogLevel, makeLogger } from "./serve/logger.ts";

export interface ServeOptions {
  /** Absent: the example that comes with Berth. */
  readonly config?: string;
  readonly data: string;
  /** Nothing is kept on disk. */
  readonly memory: boolean;
  /** HOST:PORT */
  readonly listen: string;
  /** Listen beyond loopback although there is no authentication. */
  readonly insecureListen: boolean;
  readonly logLevel: LogLevel;
}

export interface Running {
  readonly url: string;
  readonly configFile: string;
  readonly pools: number;
  readonly resources: number;
  reload(): Promise<void>;
  /** Answers what is open, makes everything durable, lets go of the data folder. */
  stop(): Promise<void>;
  /** Rejects if the server cannot go on; otherwise settles when it has stopped. */
  readonly stopped: Promise<void>;
}

/** For answers that are under way when the server stops. */
const stopMsMax = 5_000;

export async function serve(options: ServeOptions): Promise<Running> {
  const address = parseListenAddress(options.listen);
  refuseToBeReachable(address, options.insecureListen);
  const server = new Server(options.config ?? exampleConfigPath, makeLogger(options.logLevel));
  try {
    return await server.start(options, address);
  } catch (error) {
    await server.stop();
    throw cannotServe(error, options);
  }
}

/** The parts of a server that are there so far, so that whatever is there can be stopped. */
class Server {
  readonly #configFile: string;
  readonly #logger: Logger;
  readonly #ended = Promise.withResolvers<void>();
  #journal: Journal | undefined;
  #broker: Broker | undefined;
  #config: ConfigInForce | undefined;
  #app: App | undefined;

  constructor(configFile: string, logger: Logger) {
    this.#configFile = configFile;
    this.#logger = logger;
    this.#ended.promise.catch(() => {}); // Whoever wants to know asks for `stopped`.
  }

  async start(options: ServeOptions, address: ListenAddress): Promise<Running> {
    const journal = options.memory ? new MemoryJournal() : SqliteJournal.open(options.data);
    this.#journal = journal;
    const broker = await this.#openBroker(journal);
    const where = options.memory ? "memory" : options.data;
    this.#logger.info({ events: broker.head, data: where }, "journal read");
    const config = await ConfigInForce.start(this.#configFile, broker, this.#logger);
    this.#config = config;
    const site = {
      broker,
      journal,
      tokens: new Tokens(journal.secret),
      configStatus: () => config.status,
      version: await version(),
      boskos: defaultBoskosSettings,
    };
    this.#app = await makeApp(site, this.#logger);
    await this.#app.listen({ ...address, listenTextResolver: (url) => `listening at ${url}` });
    const { pools, resources } = config.status;
    return {
      url: urlOf(this.#app.server.address() as AddressInfo),
      configFile: this.#configFile,
      pools,
      resources,
      reload: () => config.reload(),
      stop: () => this.stop(),
      stopped: this.#ended.promise,
    };
  }

  async stop(): Promise<void> {
    await this.#config?.close();
    // Together: the one stops listening, the other answers those who wait on open connections. Who
    // has sent half a request, or nothing, is not waited for.
    const cut = setTimeout(() => this.#app?.server.closeAllConnections(), stopMsMax);
    await Promise.all([this.#app?.close(), this.#broker?.close()]);
    clearTimeout(cut);
    await this.#journal?.close();
    this.#logger.info("stopped");
    this.#ended.resolve();
  }

  async #openBroker(journal: Journal): Promise<Broker> {
    const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
    this.#broker = broker;
    broker.listen({
      writable: (cause) => {
        if (cause !== null) {
          this.#logger.error({ err: cause }, "the journal cannot be written; it is tried again");
          return;
        }
        this.#logger.info("the journal can be written again");
        this.#config?.retry();
      },
      failed: (what, err) => this.#logger.error({ err }, `a bug: ${what} failed`),
      fatal: (cause) => this.#die(cause),
    });
    return broker;
  }

  /** It cannot go on, and must not look as if it could. */
  #die(cause: Error): void {
    this.#logger.fatal({ err: cause }, "the server cannot go on and stops");
    this.#ended.reject(
      new CannotServe(cause.message, "Restart the server", exitCodes.unavailable, cause),
    );
    void this.stop();
  }
}

const listenTroubles: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there",
  EACCES: "this user may not use that port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
};

/** What a person can do something about is told without a stack; anything else is a bug. */
function cannotServe(error: unknown, { listen, data }: ServeOptions): unknown {
  const because = (message: string, hint: string) =>
    new CannotServe(message, hint, exitCodes.unavailable, error);
  if (error instanceof JournalUnusable) return because(error.message, error.hint);
  if (error instanceof JournalUnavailable) {
    return because(error.message, `Make room on the disk of "${data}", then start again`);
  }
  if (error instanceof JournalDamaged) {
    return because(error.message, `Restore "${data}" from a backup, or start with an empty folder`);
  }
  const trouble =
    error instanceof Error && "code" in error ? listenTroubles[String(error.code)] : "";
  if (!trouble) return error;
  return because(
    `Cannot listen on ${listen}: ${trouble}`,
    "Choose another with --listen HOST:PORT",
  );
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function version(): Promise<string> {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  return String((JSON.parse(text) as { version: unknown }).version);
}
