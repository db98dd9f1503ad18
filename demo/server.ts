import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describeListenError, parseListenAddress } from "../src/server/listen-address.ts";
import { endWithDemo } from "./stop-asked.ts";

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
  /** Resolves when the server has ended, other than by an outage. */
  readonly ended: Promise<void>;
  readonly #args: readonly string[];
  readonly #end = Promise.withResolvers<void>();
  #process: ChildProcess;
  #isAway = false;

  private constructor({ child, greeting }: Started, args: readonly string[]) {
    this.#process = child;
    this.#args = args;
    this.ended = this.#end.promise;
    this.greeting = greeting;
    this.url = / at (http:\S+)/.exec(greeting)?.[1] ?? "";
    this.#watch();
  }

  /** Returns undefined if the server exited; it has then printed the reason. */
  static async start(args: readonly string[]): Promise<DemoServer | undefined> {
    const started = await spawned(args);
    return started === undefined ? undefined : new DemoServer(started, args);
  }

  /** Kills the server, as a power failure would, and starts it again after a while. */
  async outage(ms: number): Promise<void> {
    if (this.#isAway) return;
    this.#isAway = true;
    const gone = once(this.#process, "close");
    this.#process.kill("SIGKILL");
    await gone;
    await pause(ms);
    // The first one may have chosen its port itself.
    const started = await spawned([...this.#args, "--listen", new URL(this.url).host]);
    this.#isAway = false;
    if (started === undefined) return this.#end.resolve();
    this.#process = started.child;
    this.#watch();
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.ended;
  }

  #watch(): void {
    this.#process.once("close", () => {
      if (!this.#isAway) this.#end.resolve();
    });
  }
}

/** The cluster that admission asks is away now and then, on purpose. */
const expected = /the capacity check failed/;

interface Started {
  readonly child: ChildProcess;
  readonly greeting: string;
}

async function spawned(args: readonly string[]): Promise<Started | undefined> {
  const all = ["serve", "--log-level", "error", ...args];
  const child = spawn(berth, all, { stdio: ["ignore", "inherit", "pipe"], detached: true });
  endWithDemo(child);
  const ended = once(child, "close").then(() => undefined);
  const lines = createInterface({ input: child.stderr ?? process.stdin });
  const greeting = new Promise<string>((resolve) => {
    lines.on("line", (line) => {
      if (/^Berth lends .* at http/.test(line)) resolve(line);
      else if (!expected.test(line)) console.error(line);
    });
  });
  const found = await Promise.race([greeting, ended]);
  return found === undefined ? undefined : { child, greeting: found };
}
