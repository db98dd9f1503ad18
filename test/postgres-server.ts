/** A PostgreSQL server of Debian's for tests: in a folder of its own, on a port of its own. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

/** Set in CI: these tests must not be left out. */
export const postgresRequired = process.env["BERTH_POSTGRES_TESTS"] === "required";
export const howToGetPostgres =
  "Install it (on Debian: apt-get install postgresql), or set BERTH_POSTGRES_BIN to a folder with initdb and postgres.";

/** The folder with the programs of the newest version; undefined if there is none. */
export function findPostgres(): string | undefined {
  const given = process.env["BERTH_POSTGRES_BIN"];
  const folders = given === undefined ? globSync("/usr/lib/postgresql/*/bin") : [given];
  return folders
    .filter((folder) => existsSync(join(folder, "initdb")))
    .toSorted((a, b) => versionIn(b) - versionIn(a))[0];
}

function versionIn(folder: string): number {
  return Number(/postgresql\/(\d+)\//.exec(folder)?.[1] ?? 0);
}

/** PostgreSQL refuses to run as root, so that it runs as another user there. */
function ordinaryUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string) => {
    const found = spawnSync("id", [option, "postgres"], { encoding: "utf8" });
    return found.status === 0 ? Number(found.stdout) : 65_534;
  };
  return { uid: id("-u"), gid: id("-g") };
}

export interface PostgresOptions {
  /** Further lines of its configuration. */
  readonly settings?: readonly string[];
  /** Where its folder is made; the folder for temporary files unless told. */
  readonly parent?: string;
}

/** It can be stopped, killed and started again on the same port, with the same data. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  readonly #bin: string;
  readonly #user = ordinaryUser();
  #process: ReturnType<typeof spawn> | undefined;
  /** It does not outlive this process, however that ends. */
  readonly #kill = () => void this.#process?.kill("SIGQUIT");

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin;
    this.folder = folder;
    this.port = port;
  }

  static async start({
    settings = [],
    parent = tmpdir(),
  }: PostgresOptions = {}): Promise<PostgresServer> {
    const bin = findPostgres();
    if (bin === undefined) throw new Error(howToGetPostgres);
    const folder = mkdtempSync(join(parent, "berth-postgres.tmp-"));
    const server = new PostgresServer(bin, folder, await freePort());
    if (server.#user !== undefined) chownSync(folder, server.#user.uid, server.#user.gid);
    chmodSync(folder, 0o700);
    const data = join(folder, "data");
    const initdb = ["-D", data, "-U", "postgres", "--auth", "trust", "--no-sync", "-E", "UTF8"];
    execFileSync(join(bin, "initdb"), [...initdb, "--locale=C"], {
      ...server.#user,
      cwd: folder,
      stdio: "pipe",
    });
    await server.run(settings);
    return server;
  }

  /** A standby that follows this server, and that every commit of this server waits for. */
  async standby(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), "berth-postgres.tmp-"));
    const standby = new PostgresServer(this.#bin, folder, await freePort());
    if (this.#user !== undefined) chownSync(folder, this.#user.uid, this.#user.gid);
    chmodSync(folder, 0o700);
    const copy = ["-D", join(folder, "data"), "-d", this.url("postgres"), "-R", "-c", "fast"];
    execFileSync(join(this.#bin, "pg_basebackup"), [...copy, "--no-sync"], {
      ...this.#user,
      cwd: folder,
      stdio: "pipe",
    });
    await standby.run();
    await this.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.query("SELECT pg_reload_conf()");
    const states = "SELECT sync_state FROM pg_stat_replication";
    while (!(await this.query(states)).some(({ sync_state }) => sync_state === "sync")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return standby;
  }

  /** Of a standby: it becomes the primary, and waits for no other. */
  async promote(): Promise<void> {
    await this.query("SELECT pg_promote()");
    await this.query("ALTER SYSTEM RESET synchronous_standby_names");
    await this.query("SELECT pg_reload_conf()");
  }

  /** Resolves once it accepts connections. */
  async run(settings: readonly string[] = []): Promise<void> {
    const options = [`port=${this.port}`, "listen_addresses=127.0.0.1", ...settings];
    const all = [`unix_socket_directories=${this.folder}`, "max_connections=200", ...options];
    const args = ["-D", join(this.folder, "data"), ...all.flatMap((option) => ["-c", option])];
    this.#process = spawn(join(this.#bin, "postgres"), args, {
      ...this.#user,
      cwd: this.folder,
      stdio: "ignore",
    });
    process.once("exit", this.#kill);
    for (let tries = 0; !(await this.#answers()); tries += 1) {
      if (tries > 300) throw new Error("PostgreSQL did not start within 30 s");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #answers(): Promise<boolean> {
    const client = new Client(this.url("postgres"));
    client.on("error", () => {});
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  url(database: string, port = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`;
  }

  async query(sql: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new Client(this.url(database));
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** `SIGINT` ends it at once and cleanly, `SIGQUIT` as a crash does. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    process.removeListener("exit", this.#kill);
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill(signal);
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGQUIT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
