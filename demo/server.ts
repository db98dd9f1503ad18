import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describeListenError, parseListenAddress } from "../src/server/listen-address.ts";

const berth = fileURLToPath(new URL("../bin/berth", import.meta.url));

/**
 * Says why the demo cannot listen there, before it makes the history, which takes a while. What else
 * is wrong with the address is for the server to say.
 */
export async function cannotListen(listen: string): Promise<string | undefined> {
  const probe = createServer();
  try {
    const { host, port } = parseListenAddress(listen);
    await once(probe.listen(port, host), "listening");
    return undefined;
  } catch (error) {
    return describeListenError(error);
  } finally {
    probe.close();
  }
}

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
