/** The real `bin/berth` as child processes: a server, and commands that talk to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { canRunInProcess, type Finished, runInProcess } from "./cli-in-process.ts";
import { keepEvidence, metricsOf } from "./evidence.ts";

export const berthPath = fileURLToPath(new URL("../bin/berth", import.meta.url));

/** One process with what it has said so far; both streams in `all`, in the order of arrival. */
export class Process {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";
  all = "";
  readonly ended: Promise<number>;
  readonly #listeners = new Set<() => void>();

  constructor(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"], env });
    this.child.stdin?.on("error", () => {}); // It may end before it has read all that is typed.
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      this.#said(text);
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#said(text);
    });
    this.ended = once(this.child, "close").then(([code, signal]) => {
      for (const tell of this.#listeners) tell();
      return signal === null ? Number(code) : -1;
    });
  }

  /** Resolves with the match once it has been said; rejects if the process ends without it. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.all);
      if (found !== null) return found;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        await this.ended;
        const late = pattern.exec(this.all);
        if (late !== null) return late;
        throw new Error(`It ended without saying ${pattern}:\n${this.all}`);
      }
      await new Promise<void>((resolve) => {
        const tell = () => {
          this.#listeners.delete(tell);
          resolve();
        };
        this.#listeners.add(tell);
      });
    }
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  #said(text: string): void {
    this.all += text;
    for (const tell of [...this.#listeners]) tell();
  }
}

export async function finished(started: Process): Promise<Finished> {
  const code = await started.ended;
  const { stdout, stderr, all } = started;
  return { code, stdout, stderr, all };
}

export const cleanEnv = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(BERTH_|NO_COLOR|GITHUB_|ACTIONS_|JOB_NAME)/.test(name),
  ),
);

/** Runs a command line on a terminal of 80 columns and 24 lines. */
export function onTerminal(commandLine: string, env: NodeJS.ProcessEnv): Process {
  const line = `stty cols 80 rows 24; ${commandLine}`;
  const args = ["-qfec", line.replaceAll("berth ", `${berthPath} `), "/dev/null"];
  const terminal = { LC_ALL: "C.UTF-8", TERM: "xterm", SHELL: "/bin/bash" };
  return new Process("script", args, { ...env, ...terminal });
}

/** What a terminal shows after the last drawing, line by line. */
export function lastPicture({ all }: Process): string[] {
  const drawn = all.slice(all.lastIndexOf("\u001b[H") + 3);
  return stripVTControlCharacters(drawn).split("\r\n");
}

/** A server of its own, with a folder for its data that lives as long as the test. */
export class TestServer implements AsyncDisposable {
  readonly folder: string;
  readonly #extra: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  #process: Process | undefined;
  #url = "";
  readonly #children = new Set<Process>();
  /** What the server and its commands have reported. */
  #said = "";

  private constructor(folder: string, extra: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.folder = folder;
    this.#extra = extra;
    this.#env = env;
  }

  static start(pools: object, ...extra: string[]): Promise<TestServer> {
    return TestServer.startWith({ pools }, ...extra);
  }

  static startWith(config: object, ...extra: string[]): Promise<TestServer> {
    return TestServer.startIn({}, config, ...extra);
  }

  /** With variables of its own. */
  static async startIn(
    env: NodeJS.ProcessEnv,
    config: object,
    ...extra: string[]
  ): Promise<TestServer> {
    const folder = await mkdtemp(join(tmpdir(), "berth-cli-test-"));
    await writeFile(join(folder, "berth.yaml"), JSON.stringify(config));
    const server = new TestServer(folder, extra, env);
    try {
      await server.start("127.0.0.1:0");
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** What the server has said since it was last started, for those who look into a failure. */
  get log(): string {
    return this.#process?.all ?? "";
  }

  /** Again where it was, unless told otherwise. */
  async start(listen: string = new URL(this.#url).host): Promise<void> {
    const config = join(this.folder, "berth.yaml");
    const data = join(this.folder, "data");
    const args = ["serve", "--config", config, "--data", data, "--listen", listen, ...this.#extra];
    this.#process = new Process(berthPath, args, { ...cleanEnv, ...this.#env });
    const [, url = ""] = await this.#process.says(/ at (https?:[^\s"]+)/);
    this.#url = url;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#process?.signal(signal);
    await this.#process?.ended;
    this.#said += this.log;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  #environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return { ...cleanEnv, BERTH_URL: this.#url, TMPDIR: this.folder, ...env };
  }

  /** Starts a command that talks to this server. */
  berth(args: readonly string[], env: NodeJS.ProcessEnv = {}): Process {
    const started = new Process(berthPath, args, this.#environment(env));
    this.#children.add(started);
    return started;
  }

  /** The same on a terminal of its own: what is typed goes through it, Ctrl-C included. */
  onTerminal(commandLine: string): Process {
    const started = onTerminal(commandLine, { ...cleanEnv, BERTH_URL: this.#url });
    this.#children.add(started);
    return started;
  }

  /** Runs a command to its end, in this process if that is possible. */
  async done(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
    if (canRunInProcess(args, env)) return this.inProcess(args, env);
    return finished(this.berth(args, env));
  }

  async inProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
    const done = await runInProcess(args, this.#environment(env));
    this.#said += done.stderr;
    return done;
  }

  async json(...args: string[]): Promise<unknown> {
    const { stdout } = await this.done([...args, "-o", "json"]);
    return JSON.parse(stdout);
  }

  /** Those that still run are ended as a CI system would. */
  async endCommands(): Promise<void> {
    for (const each of this.#children) {
      const { child, ended } = each;
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
      this.#said += each.stderr;
    }
    this.#children.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endCommands();
    const isRunning = this.#process?.child.exitCode === null && !this.#process.child.signalCode;
    if (isRunning) this.#said += await metricsOf(this.#url);
    await this.stop("SIGKILL");
    await keepEvidence(this.#said, join(this.folder, "data"));
    await rm(this.folder, { recursive: true, force: true });
  }
}
