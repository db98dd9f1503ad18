import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Process } from "./cli-processes.ts";

const script = fileURLToPath(new URL("../scripts/go-peers", import.meta.url));
const { status, stdout } = spawnSync(script, ["--find"], { encoding: "utf8" });

/** Where the tests must not be left out, as in CI on a machine with Go, missing programs are a failure. */
const mustBeThere = process.env["BERTH_GO_TESTS"] === "required";

/** Why the tests with Boskos's own programs cannot run; false if they can. For `context.skip`. */
export const noGoPeers =
  status !== 0 && !mustBeThere && "they need Boskos's Go programs, which scripts/go-peers builds";

/** Starts one of Boskos's own programs. */
export function goPeer(name: "boskosctl" | "reaper" | "boskos-client", args: string[]): Process {
  return new Process(join(stdout.trim(), name), args, process.env);
}

export interface GoReply {
  readonly result: unknown;
  readonly error?: string;
}

/** Boskos's own Go client in a process of its own. It makes one call after the other. */
export class RealGoClient implements AsyncDisposable {
  readonly #process: Process;
  #calls = 0;

  constructor(url: string, owner: string) {
    this.#process = goPeer("boskos-client", [url, owner]);
  }

  async call(call: string, options: object = {}): Promise<GoReply> {
    this.#process.type(`${JSON.stringify({ call, ...options })}\n`);
    this.#calls += 1;
    const [, line = ""] = await this.#process.says(
      new RegExp(`^(?:\\{.*\\n){${this.#calls - 1}}(\\{.*)\\n`),
    );
    return JSON.parse(line) as GoReply;
  }

  /** The name of the resource that an acquire returned. */
  async acquired(call: string, options: object): Promise<string> {
    const { result, error } = await this.call(call, options);
    if (error !== undefined) throw new Error(error);
    return (result as { name: string }).name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.child.stdin?.end();
    await this.#process.ended;
  }
}
