/**
 * Runs commands in the process of the test, through the same function as `bin/berth`. A process of
 * its own costs fifty times as much. `cli-commands.test.ts` proves that both print the same.
 */
import { runCommandLine } from "../src/cli/command-line.ts";

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams in the order of arrival. */
  readonly all: string;
}

/** Commands that end by themselves, start no other process and do not read from stdin. */
const inProcess = new Set([
  ...["acquire", "heartbeat", "release", "refresh", "signal", "pin", "unpin"],
  ...["status", "pools", "show-pools", "leases", "queue", "resources", "explain"],
  ...["history", "stats", "simulate", "drain", "undrain", "free", "config"],
  ...["completion", "__complete", "version", "whoami"],
]);
const slotsInProcess = new Set([
  ...["acquire", "release", "renew", "status", "check-capacity", "cleanup", "manifests"],
]);
const needsProcess = new Set(["-", "/dev/stdin", "--watch", "--every", "--destroy", "--from"]);

export function canRunInProcess([name = "", ...rest]: readonly string[], env: Env): boolean {
  if (env["NODE_OPTIONS"] !== undefined || rest.some((arg) => needsProcess.has(arg))) return false;
  return name === "slots" ? slotsInProcess.has(rest[0] ?? "") : inProcess.has(name);
}

type Env = Readonly<NodeJS.ProcessEnv>;

let last: Promise<unknown> = Promise.resolve();

/** One command at a time, because the environment and the output belong to the whole process. */
export function runInProcess(args: readonly string[], env: Env): Promise<Finished> {
  const finished = last.then(() => run(args, env));
  last = finished.catch(() => {});
  return finished;
}

async function run(args: readonly string[], env: Env): Promise<Finished> {
  const output = { stdout: "", stderr: "", all: "" };
  using cleanup = new DisposableStack();
  cleanup.use(withEnvironment(env));
  cleanup.use(withoutNewListeners());
  for (const name of ["stdout", "stderr"] as const) {
    cleanup.use(
      captured(name, (text) => {
        output[name] += text;
        output.all += text;
      }),
    );
  }
  return { code: await runCommandLine(args), ...output };
}

/** Replaces the whole environment until it is disposed. */
function withEnvironment(env: Env): Disposable {
  const before = { ...process.env };
  const set = (values: Env) => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) process.env[name] = value;
    }
  };
  set(env);
  return { [Symbol.dispose]: () => set(before) };
}

function captured(name: "stdout" | "stderr", keep: (text: string) => void): Disposable {
  const stream = process[name];
  const { write } = stream;
  stream.write = (chunk: Uint8Array | string, ...rest: readonly unknown[]) => {
    keep(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
    const written = rest.find((each) => typeof each === "function");
    if (written !== undefined) process.nextTick(written);
    return true;
  };
  return {
    [Symbol.dispose]: () => {
      stream.write = write;
    },
  };
}

const signals = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGTSTP",
] as const;

/** A command may leave listeners behind, because its process would end now. */
function withoutNewListeners(): Disposable {
  const known = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  return {
    [Symbol.dispose]: () => {
      for (const [signal, before] of known) {
        for (const listener of process.listeners(signal)) {
          if (!before.includes(listener)) process.removeListener(signal, listener);
        }
      }
    },
  };
}
