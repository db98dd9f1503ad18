import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const berth = fileURLToPath(new URL("../bin/berth", import.meta.url));

/** A server in its own process, as `berth serve` starts it. */
export class DemoServer {
  readonly url: string;
  readonly greeting: string;
  readonly #process: ChildProcess;
  readonly ended: Promise<void>;

  private constructor(child: ChildProcess, ended: Promise<void>, greeting: string) {
    this.#process = child;
    this.ended = ended;
    this.greeting = greeting;
    this.url = / at (http:\S+)/.exec(greeting)?.[1] ?? "";
  }

  /** Returns undefined if the server exited; it has then printed the reason. */
  static async start(args: readonly string[]): Promise<DemoServer | undefined> {
    const all = ["serve", "--log-level", "warn", ...args];
    const child = spawn(berth, all, { stdio: ["ignore", "inherit", "pipe"], detached: true });
    const ended = once(child, "close").then(() => {});
    const lines = createInterface({ input: child.stderr ?? process.stdin });
    const greeting = new Promise<string>((resolve) => {
      lines.on("line", (line) => {
        if (/^Berth lends .* at http/.test(line)) resolve(line);
        else console.error(line);
      });
    });
    const found = await Promise.race([greeting, ended]);
    return found === undefined ? undefined : new DemoServer(child, ended, found);
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.ended;
  }
}
