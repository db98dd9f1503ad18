/** The only place where the parts meet: configuration, journal, broker, edges; started and stopped in order. */
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { Broker } from "./broker/broker.ts";
import { SystemEnvironment } from "./broker/environment.ts";
import { Tokens } from "./broker/tokens.ts";
import { exampleConfigPath } from "./config/example.ts";
import { makeApp } from "./http/app.ts";
import type { App } from "./http/site.ts";
import { type Journal, JournalUnusable } from "./journal/journal.ts";
import { MemoryJournal } from "./journal/memory.ts";
import { SqliteJournal } from "./journal/sqlite.ts";
import { CannotServe, exitCodes } from "./serve/cannot-serve.ts";
import { ConfigInForce } from "./serve/config-in-force.ts";
import { parseListenAddress, refuseToBeReachable } from "./serve/listen-address.ts";
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

export async function serve(options: ServeOptions): Promise<Running> {
  const address = parseListenAddress(options.listen);
  refuseToBeReachable(address, options.insecureListen);
  const logger = makeLogger(options.logLevel);
  const configFile = options.config ?? exampleConfigPath;
  const journal = openJournal(options);
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {});
  const broker = await Broker.open(journal, (notBefore) => new SystemEnvironment(notBefore));
  logger.info(
    { events: broker.head, data: options.memory ? "memory" : options.data },
    "journal read",
  );
  broker.listen({
    writable(cause) {
      if (cause === null) logger.info("the journal can be written again");
      else logger.error({ err: cause }, "the journal cannot be written; trying again every second");
    },
    failed: (what, err) => logger.error({ err }, `a bug: ${what} failed`),
    fatal: (cause) =>
      ended.reject(
        new CannotServe(cause.message, "Restart the server", exitCodes.unavailable, cause),
      ),
  });
  let config: ConfigInForce | undefined;
  let app: App | undefined;
  const stop = async (): Promise<void> => {
    await config?.close();
    // Together: the one stops listening, the other answers those who wait on open connections.
    await Promise.all([app?.close(), broker.close()]);
    await journal.close();
    logger.info("stopped");
    ended.resolve();
  };
  try {
    const inForce = await ConfigInForce.start(configFile, broker, logger);
    config = inForce;
    const configStatus = () => inForce.status;
    const tokens = new Tokens(journal.secret);
    app = await makeApp(
      { broker, journal, tokens, configStatus, version: await version() },
      logger,
    );
    await app.listen({ ...address, listenTextResolver: (url) => `listening at ${url}` });
    const { pools, resources } = inForce.status;
    const url = urlOf(app.server.address() as AddressInfo);
    return {
      url,
      configFile,
      pools,
      resources,
      reload: () => inForce.reload(),
      stop,
      stopped: ended.promise,
    };
  } catch (error) {
    await stop();
    throw cannotListen(error, options.listen);
  }
}

function openJournal({ memory, data }: ServeOptions): Journal {
  if (memory) return new MemoryJournal();
  try {
    return SqliteJournal.open(data);
  } catch (error) {
    if (!(error instanceof JournalUnusable)) throw error;
    throw new CannotServe(error.message, error.hint, exitCodes.unavailable, error);
  }
}

function cannotListen(error: unknown, listen: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const why: Record<string, string> = {
    EADDRINUSE: "something else listens there",
    EACCES: "this user may not use that port",
    EADDRNOTAVAIL: "this machine has no such address",
    ENOTFOUND: "there is no such host",
  };
  const reason = why[String(error.code)];
  if (reason === undefined) return error;
  return new CannotServe(
    `Cannot listen on ${listen}: ${reason}`,
    "Choose another with --listen HOST:PORT",
    exitCodes.unavailable,
    error,
  );
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function version(): Promise<string> {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  return String((JSON.parse(text) as { version: unknown }).version);
}
