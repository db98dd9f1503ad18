/** Debian's PgBouncer in transaction mode, in front of a PostgreSQL server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export const pgbouncerPath = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find(existsSync);
export const howToGetPgbouncer = "it needs PgBouncer (on Debian: apt-get install pgbouncer)";

export class PgBouncer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(port: number, folder: string, running: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#process = running;
  }

  static async start(target: number): Promise<PgBouncer> {
    if (pgbouncerPath === undefined) throw new Error(howToGetPgbouncer);
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "berth-pgbouncer-"));
    chmodSync(folder, 0o755);
    const config = join(folder, "pgbouncer.ini");
    const lines = [
      ...["[databases]", `* = host=127.0.0.1 port=${target} user=postgres`, "[pgbouncer]"],
      ...[`listen_port=${port}`, "listen_addr=127.0.0.1", "auth_type=any", "unix_socket_dir="],
      ...["pool_mode=transaction", "default_pool_size=5", "logfile=", "pidfile="],
    ];
    writeFileSync(config, lines.join("\n"));
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ["--user", "nobody"] : [];
    const running = spawn(pgbouncerPath, [...user, config], { stdio: "ignore" });
    while (!(await answers(port))) await setTimeout(50);
    return new PgBouncer(port, folder, running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
