/**
 * Runs the credential plugin (`exec`) of a kubeconfig. The Kubernetes client could run it too, but
 * it runs the plugin once for every call, never stops a plugin that hangs, and keeps a token that
 * the server has rejected.
 */
import { type ChildProcess, type ExecFileException, execFile } from "node:child_process";
import type { KubeConfig } from "@kubernetes/client-node";
import { unlessAborted } from "../client/linked-abort.ts";

/** The limit for the output of a plugin. */
const outputBytesMax = 1_048_576;
/** How long a plugin may take to exit after SIGTERM. */
const graceMs = 2_000;
/** How much of the plugin's error output an error message quotes. */
const errorLengthMax = 300;

interface Program {
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
}

export interface Credential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

type Authenticator = Parameters<KubeConfig["addAuthenticator"]>[0];

export class ExecCredential implements Authenticator {
  readonly #user: string;
  readonly #program: Program;
  #credential: Credential | undefined;
  #run: Run | undefined;

  private constructor(user: string, program: Program) {
    this.#user = user;
    this.#program = program;
  }

  /**
   * Replaces the plugin handling of the client. Returns undefined if the kubeconfig has no plugin.
   */
  static of(config: KubeConfig): ExecCredential | undefined {
    const user = config.getCurrentUser();
    if (user === null || !isProgram(user.exec)) return undefined;
    const { exec, ...known } = user;
    config.users = config.users.map((each) => (each.name === user.name ? known : each));
    const credential = new ExecCredential(user.name, exec);
    config.addAuthenticator(credential);
    return credential;
  }

  isAuthProvider({ name }: { readonly name: string }): boolean {
    return name === this.#user;
  }

  async applyAuthentication(
    ...[, options]: Parameters<Authenticator["applyAuthentication"]>
  ): Promise<void> {
    const { token, clientCertificateData: cert, clientKeyData: key } = this.#credential ?? {};
    Object.assign(options, cert && { cert }, key && { key });
    if (token) options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
  }

  /**
   * Returns the last credential if it is still valid, otherwise runs the plugin. Concurrent callers
   * share one run, which is killed when all of them have been aborted.
   */
  async current(signal: AbortSignal): Promise<Credential> {
    if (this.#credential !== undefined && isGood(this.#credential)) return this.#credential;
    this.#run ??= this.#start();
    const run = this.#run;
    run.waiting += 1;
    try {
      this.#credential = await unlessAborted(run.said, signal);
      return this.#credential;
    } finally {
      run.waiting -= 1;
      if (run.waiting === 0) this.#end(run);
    }
  }

  /** The server rejected this credential. A newer credential, if there is one, stays. */
  forget(refused: Credential): void {
    if (this.#credential === refused) this.#credential = undefined;
  }

  #start(): Run {
    const { promise: said, resolve, reject } = Promise.withResolvers<Credential>();
    const { command } = this.#program;
    const child = started(this.#program, (error, stdout, stderr) => {
      if (error !== null) return reject(whyFailed(command, error, stderr));
      try {
        resolve(credentialIn(JSON.parse(stdout)));
      } catch {
        // The message does not contain the output, because a part of it may be a secret.
        reject(new Error(`${command} of the kubeconfig printed no credential`));
      }
    });
    child.stdin?.on("error", () => {}).end(); // The plugin gets no input.
    said.catch(() => {}); // All callers may have been aborted.
    return { said, child, waiting: 0 };
  }

  #end(run: Run): void {
    if (this.#run === run) this.#run = undefined;
    stop(run.child);
  }
}

interface Run {
  readonly said: Promise<Credential>;
  readonly child: ChildProcess;
  /** The number of calls that wait for it. */
  waiting: number;
}

/** Processes that the plugin has started are not stopped, and nothing waits for them. */
function stop(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), graceMs);
  force.unref();
  child.once("exit", () => clearTimeout(force));
}

function isGood({ expirationTimestamp: until }: Credential): boolean {
  return until === undefined || Date.parse(until) > Date.now();
}

function isProgram(exec: unknown): exec is Program {
  return typeof exec === "object" && exec !== null && "command" in exec && exec.command !== "";
}

function credentialIn(printed: { readonly status?: Credential }): Credential {
  const { status } = printed;
  if (status === undefined) throw new Error("It has no status");
  return status;
}

function started({ command, args, env }: Program, told: Told): ChildProcess {
  const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const options = { env: { ...process.env, ...added }, maxBuffer: outputBytesMax };
  try {
    return execFile(command, args ?? [], options, told);
  } catch (error) {
    throw notStarted(command, error as ExecFileException);
  }
}

type Told = (error: ExecFileException | null, stdout: string, stderr: string) => void;

/**
 * Quotes the error output of the plugin or describes the failure. It never uses the message of
 * Node, which contains the arguments, because an argument may be a secret.
 */
function whyFailed(command: string, error: ExecFileException, stderr: string): Error {
  if ("syscall" in error) return notStarted(command, error);
  const [said = ""] = stderr.trim().split("\n", 1);
  if (said !== "") return new Error(shortened(said));
  const { code, signal } = error;
  // Node sets a text code if the process was killed because of the size of its output.
  const how = typeof code === "string" ? "printed too much" : `ended with ${code ?? signal}`;
  return new Error(`${command} of the kubeconfig ${how}`);
}

function notStarted(command: string, { code }: ExecFileException): Error {
  return new Error(`${command} of the kubeconfig cannot be started (${code})`);
}

function shortened(text: string): string {
  const max = errorLengthMax;
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
