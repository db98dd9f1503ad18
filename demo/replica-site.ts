/** Several servers on one journal in PostgreSQL behind one address, whose leader can be killed. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EstimateAccuracy } from "../src/api/history-schemas.ts";
import type { Replicas } from "../src/api/replica-schemas.ts";
import { checkPostgres } from "../src/server/check-postgres.ts";
import { copyPlace } from "../src/server/migrate/journal-places.ts";
import { PostgresServer } from "../test/postgres-server.ts";
import { Balancer } from "./balancer.ts";
import { EstimateTally } from "./estimate-tally.ts";
import { DemoServer } from "./server.ts";

export interface ReplicaSiteOptions {
  /** With the journal of the past; the folders of the servers are made in it. */
  readonly folder: string;
  readonly configFile: string;
  readonly listen: string;
  readonly servers: number;
  /** Aborted: nobody wants them any more. */
  readonly stop: AbortSignal;
}

const lookEveryMs = 2_000;

export class ReplicaSite {
  readonly url: string;
  readonly greeting: string;
  readonly ended: Promise<unknown>;
  readonly estimates = new EstimateTally();
  kills = 0;
  readonly #database: PostgresServer;
  readonly #servers: readonly DemoServer[];
  readonly #balancer: Balancer;
  readonly #looking: NodeJS.Timeout;
  #killing: NodeJS.Timeout | undefined;
  #killed: Promise<void> | undefined;

  private constructor(database: PostgresServer, servers: DemoServer[], balancer: Balancer) {
    this.#database = database;
    this.#servers = servers;
    this.#balancer = balancer;
    this.url = balancer.url;
    this.greeting = `${servers.length} servers lend behind ${balancer.url}`;
    this.ended = Promise.race(servers.map(({ ended }) => ended));
    this.#looking = setInterval(() => void this.#look(), lookEveryMs);
  }

  /** Returns undefined if a server exited, which has then printed the reason, or if it shall stop. */
  static async start(options: ReplicaSiteOptions): Promise<ReplicaSite | undefined> {
    const { folder, configFile, listen } = options;
    const database = await PostgresServer.start();
    const journal = database.url("postgres");
    await copyPlace(folder, journal);
    const key = join(folder, "vault.key");
    writeFileSync(key, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    const servers: DemoServer[] = [];
    for (let index = 0; index < options.servers && !options.stop.aborted; index += 1) {
      const data = join(folder, `replica-${index}`);
      const where = ["--config", configFile, "--data", data, "--listen", "127.0.0.1:0"];
      const server = await DemoServer.start([...where, "--journal", journal, "--vault-key", key]);
      if (server !== undefined) servers.push(server);
    }
    if (servers.length === options.servers) {
      const ports = servers.map(({ url }) => Number(new URL(url).port));
      return new ReplicaSite(database, servers, await Balancer.start(listen, ports));
    }
    await Promise.all(servers.map((server) => server.stop()));
    await database[Symbol.asyncDispose]();
    return undefined;
  }

  /** Kills the server that leads this often, and starts it again after a while. */
  killOften(everyMs: number, awayMs: number, killed: () => void): void {
    this.#killing = setInterval(() => {
      this.#killed ??= this.#killLeader(awayMs)
        .then(killed)
        .finally(() => {
          this.#killed = undefined;
        });
    }, everyMs);
  }

  /** Resolves once all servers run. */
  async stopKilling(): Promise<void> {
    clearInterval(this.#killing);
    await this.#killed;
    await this.#look();
  }

  async #killLeader(awayMs: number): Promise<void> {
    await this.#look();
    for (const server of this.#servers) {
      const found = await read<Replicas>(`${server.url}/v1/replicas`);
      if (found === undefined || found.leader !== found.self) continue;
      this.kills += 1;
      return server.outage(awayMs);
    }
  }

  /** What is wrong with the journal, in words. */
  async journalProblems(): Promise<readonly string[]> {
    const { problems } = await checkPostgres(this.#database.url("postgres"));
    return problems.map(({ where, what }) => `${where}: ${what}`);
  }

  async stop(): Promise<void> {
    clearInterval(this.#looking);
    await this.#balancer[Symbol.asyncDispose]();
    await Promise.all(this.#servers.map((server) => server.stop()));
    await this.#database[Symbol.asyncDispose]();
  }

  /** Every server makes its own estimates, and forgets how good they were when it is killed. */
  async #look(): Promise<void> {
    for (const { url } of this.#servers) {
      const found = await read<EstimateAccuracy>(`${url}/v1/estimates`);
      if (found !== undefined) this.estimates.saw(url, found.total);
    }
  }
}

async function read<Body>(url: string): Promise<Body | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return response.ok ? ((await response.json()) as Body) : undefined;
  } catch {
    return undefined; // It is away.
  }
}
