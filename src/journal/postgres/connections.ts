import { Socket } from "node:net";
import { Client, type ClientConfig, Pool, type PoolClient, type QueryResultRow } from "pg";
import type { JournalWatcher } from "../shared-journal.ts";
import type { PostgresAddress } from "./address.ts";
import { cancelStatement } from "./cancel.ts";
import type { Database, Row, Statement } from "./database.ts";
import { ConnectionLost, noTls, postgresFailure } from "./failure.ts";
import { Listener } from "./listener.ts";
import { passwordFor } from "./password-file.ts";

/** For a commit, a renewal and a look at who leads. */
const urgentMax = 3;
/** For everything else, such as searches, which may take long. */
const othersMax = 4;
const connectMsMax = 3_000;
/** A connection that does not answer for this long is closed. */
const answerMsMax = 10_000;
const keepAliveAfterMs = 5_000;

/**
 * Connections to one database. Each statement is a transaction of its own, and none depends on the
 * session: a pooler may give each of them another connection. A connection that failed or is too
 * slow is never used again.
 */
export class Connections implements Database {
  readonly #address: PostgresAddress;
  readonly #urgent: Pool;
  readonly #others: Pool;
  readonly #sockets = new Set<Socket>();

  private constructor(address: PostgresAddress) {
    this.#address = address;
    this.#urgent = this.#pool(urgentMax);
    this.#others = this.#pool(othersMax);
  }

  /** Throws `JournalUnusable` or `JournalUnavailable` if there is no connection. */
  static async open(address: PostgresAddress): Promise<Connections> {
    const connections = new Connections(address);
    try {
      await connections.run({ verb: "open", sql: "SELECT 1" });
      return connections;
    } catch (error) {
      await connections.close();
      const plain = address.tlsMode === "prefer" && isWithoutTls(error);
      if (!plain) throw error;
      return Connections.open({ ...address, tlsMode: "disable", tls: undefined });
    }
  }

  /** Where the connections lead, without the password. */
  get name(): string {
    return this.#address.name;
  }

  get isOpen(): boolean {
    return !this.#others.ending;
  }

  /** One statement in a transaction of its own. */
  async run(statement: Statement): Promise<Row[]> {
    const { verb, sql, values = [], timeoutMs = answerMsMax } = statement;
    const { urgent = false, goesOn = false } = statement;
    const pool = urgent ? this.#urgent : this.#others;
    return this.#with(pool, { verb, timeoutMs, goesOn }, async (client) => {
      const { rows } = await client.query<QueryResultRow>(sql, [...values]);
      return rows;
    });
  }

  /** Several statements in one transaction, on one connection. */
  async transaction<Result>(
    verb: string,
    work: (run: (sql: string, values?: readonly unknown[]) => Promise<Row[]>) => Promise<Result>,
  ): Promise<Result> {
    const limits = { verb, timeoutMs: answerMsMax, goesOn: true };
    return this.#with(this.#others, limits, async (client) => {
      const run = async (sql: string, values?: readonly unknown[]) =>
        // Without values it may be several statements.
        (await (values === undefined ? client.query(sql) : client.query(sql, [...values]))).rows;
      await client.query("BEGIN");
      try {
        const result = await work(run);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch(() => {});
        throw error;
      }
    });
  }

  watch(channel: string, watcher: JournalWatcher): Listener {
    const stream = () => this.#newSocket(); // `close` ends it also if the database is silent.
    const client = () => new Client({ ...configOf(this.#address), stream });
    return new Listener({ client, run: (statement) => this.run(statement) }, channel, watcher);
  }

  async close(): Promise<void> {
    if (this.isOpen) await Promise.all([this.#urgent.end(), this.#others.end()]);
    // `pg` leaves the socket open when it has no password to send.
    for (const socket of this.#sockets) socket.destroy();
  }

  #pool(max: number): Pool {
    const stream = () => this.#newSocket();
    const config = { ...configOf(this.#address), stream, max, idleTimeoutMillis: 60_000 };
    const pool = new Pool(config);
    pool.on("error", () => {}); // An idle connection was lost. The next statement opens one.
    return pool;
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once("close", () => this.#sockets.delete(socket));
  }

  async #with<Result>(
    pool: Pool,
    { verb, timeoutMs, goesOn }: Required<Pick<Statement, "verb" | "timeoutMs" | "goesOn">>,
    work: (client: PoolClient) => Promise<Result>,
  ): Promise<Result> {
    let client: PoolClient | undefined;
    let failed = true;
    let isLate = false;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      // The answer may have come while this process was busy: then it is read before that.
      setImmediate(() => {
        isLate = true;
        late.reject(this.#noAnswer(verb, timeoutMs));
      });
    }, timeoutMs);
    late.promise.catch(ignore);
    const connecting = pool.connect();
    try {
      const connected = await Promise.race([connecting, late.promise]);
      client = connected;
      connected.on("error", ignore); // The statement under way is rejected as well.
      const result = await Promise.race([work(connected), late.promise]);
      failed = false;
      return result;
    } catch (error) {
      if (client === undefined) connecting.then((unused) => unused.release(), ignore);
      const failure = postgresFailure(error, verb, this.name);
      failed = failure instanceof ConnectionLost || failure === error;
      if (isLate && !goesOn && client !== undefined) this.#cancel(client);
      throw failure;
    } finally {
      clearTimeout(timer);
      client?.removeListener("error", ignore);
      client?.release(failed);
    }
  }

  #cancel(client: PoolClient): void {
    if (!this.isOpen) return;
    cancelStatement(client, this.#newSocket(), this.#address.tls ?? false, connectMsMax);
  }

  #noAnswer(verb: string, timeoutMs: number): ConnectionLost {
    const message = `Cannot ${verb} the journal ${this.name}: no answer within ${timeoutMs} ms`;
    return new ConnectionLost(message, { hint: "Check PostgreSQL and the network to it" });
  }
}

function ignore(): void {}

function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith(noTls);
}

/** `pg` calls it with the connection, which its types do not say. */
const askedPassword = passwordFor as () => Promise<string>;

function configOf(address: PostgresAddress): ClientConfig {
  const { host, port, user, password, database, tls } = address;
  return {
    ...(host === undefined ? undefined : { host }),
    ...(port === undefined ? undefined : { port }),
    ...(user === undefined ? undefined : { user }),
    password: password ?? askedPassword,
    ...(database === undefined ? undefined : { database }),
    ssl: tls ?? false,
    application_name: "berth",
    connectionTimeoutMillis: connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  };
}
