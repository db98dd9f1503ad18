/** The certificate that the server shows, and its renewal while the server runs. */
import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import { FileWatch } from "../config/file-watch.ts";
import { arrivalTimeouts } from "../http/arrival.ts";
import { CannotServe } from "./cannot-serve.ts";
import {
  checkTlsFiles,
  readTlsFiles,
  type TlsPair,
  type TlsPaths,
  type TlsText,
} from "./tls-files.ts";
import { TlsServer } from "./tls-server.ts";

const dayMs = 24 * 3_600_000;

/** Warns from this long before the certificate expires. */
const warnMs = 14 * dayMs;

export class Tls {
  readonly #paths: TlsPaths;
  readonly #logger: Logger;
  readonly #servers = new Set<TlsServer>();
  readonly #watch: FileWatch<TlsText>;
  readonly #daily: NodeJS.Timeout;
  #pair: TlsPair;
  /** Why the files as they are now are not used; undefined if they are. */
  #refusal: string | undefined;

  private constructor(paths: TlsPaths, logger: Logger, text: TlsText) {
    this.#paths = paths;
    this.#logger = logger;
    this.#pair = checkTlsFiles(text, Date.now());
    const files = {
      paths: Object.values<string>({ ...paths }),
      read: () => readTlsFiles(paths),
      describe: (read: TlsText) => JSON.stringify(read),
      onChange: (read: TlsText) => this.#use(read),
    };
    this.#watch = new FileWatch(files, text);
    this.#daily = setInterval(() => this.#logWarnings(), dayMs).unref();
    this.#logWarnings();
  }

  /** Throws `CannotServe` if a server cannot use the files. */
  static async start(paths: TlsPaths, logger: Logger): Promise<Tls> {
    return new Tls(paths, logger, await readTlsFiles(paths));
  }

  /** What an operator should do soon. */
  get warnings(): readonly string[] {
    const leftMs = this.#pair.expiresAtMs - Date.now();
    const when = new Date(this.#pair.expiresAtMs).toISOString();
    const state = leftMs <= 0 ? "has expired: clients refuse it since" : "expires at";
    const expiry = `${this.#paths.cert}: the certificate of the server ${state} ${when}`;
    return [
      ...(leftMs <= warnMs ? [`${expiry} (renew it; a renewed file is used at once)`] : []),
      ...(this.#refusal === undefined ? [] : [this.#refusal]),
    ];
  }

  /** A server that shows the certificate of the moment. Its open connections survive a renewal. */
  createServer(answer: RequestListener): TlsServer {
    const options = {
      ...this.#pair.context,
      ...arrivalTimeouts,
      requestCert: this.#paths.clientCa !== undefined,
      // A call without a certificate may have a token. `authorize` decides.
      rejectUnauthorized: false,
    };
    const server = new TlsServer(options, answer, this.#logger);
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
    return server;
  }

  /** Reads the files again even if they have not changed, for SIGHUP. */
  async reload(): Promise<void> {
    this.#use(await readTlsFiles(this.#paths));
  }

  async close(): Promise<void> {
    clearInterval(this.#daily);
    await this.#watch.close();
  }

  #use(text: TlsText): void {
    const { cert } = this.#paths;
    try {
      this.#pair = checkTlsFiles(text, Date.now());
    } catch (error) {
      if (!(error instanceof CannotServe)) throw error;
      this.#refusal = `${error.message}; the earlier certificate stays in use (${error.hint})`;
      this.#logger.error({ hint: error.hint }, `${error.message}; the earlier one stays in use`);
      return;
    }
    this.#refusal = undefined;
    for (const server of this.#servers) server.setSecureContext(this.#pair.context);
    const expires = new Date(this.#pair.expiresAtMs).toISOString();
    this.#logger.info({ file: cert, expires }, "certificate in use");
    this.#logWarnings();
  }

  #logWarnings(): void {
    for (const warning of this.warnings) this.#logger.warn(warning);
  }
}
