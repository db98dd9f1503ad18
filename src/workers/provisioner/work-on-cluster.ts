/**
 * The work of one lease: observe first, act, observe until it is done. So a crash anywhere leads to
 * "observe by name", and never to a second cluster.
 */
import { pause } from "../../client/pause.ts";
import {
  brokenState,
  freeState,
  hibernatedState,
  tombstoneState,
} from "../../core/model/lifecycle.ts";
import {
  Absent,
  type ClusterRef,
  Conflict,
  DriverError,
  Hopeless,
  type Json,
  type Observation,
} from "../../drivers/driver.ts";
import { tagsOf } from "../../drivers/names.ts";
import type { CallLimit } from "./call-limit.ts";
import { type ClusterTask, refOf, type WorkResult } from "./cluster-work.ts";
import type { OpenDriver } from "./driver-set.ts";
import {
  logBudget,
  messageLengthMax,
  pollDelayMs,
  reissueTurns,
  versionLengthMax,
} from "./limits.ts";

export interface WorkTools
  extends Pick<OpenDriver, "driver" | "observe" | "parameters" | "remaining"> {
  readonly calls: CallLimit;
  readonly signal: AbortSignal;
}

/** Rejects with a `DriverError` if a call is to be tried again, or with the reason of the signal. */
export async function workOnCluster(task: ClusterTask, tools: WorkTools): Promise<WorkResult> {
  const work = new ClusterJob(task, tools);
  switch (task.phase) {
    case "creating":
      return work.create();
    case "stopping":
      return work.stop();
    case "resuming":
      return work.wake();
    case "destroying":
      return work.destroy();
  }
}

/** What to do next: nothing but wait, or end. */
type Step = WorkResult | undefined;

class ClusterJob {
  readonly #task: ClusterTask;
  readonly #tools: WorkTools;
  readonly #driver: OpenDriver["driver"];
  #handle: Json | undefined;

  constructor(task: ClusterTask, tools: WorkTools) {
    this.#task = task;
    this.#tools = tools;
    this.#driver = tools.driver;
    this.#handle = task.handle;
  }

  create(): Promise<WorkResult> {
    return this.#until("ready", async ({ phase }, turn) => {
      switch (phase) {
        case "ready":
          return this.#opened();
        case "hibernated":
        case "stopping":
          await this.#call(() => this.#driver.resume(this.#ref, this.#options));
          return undefined;
        case "destroying":
          return this.#broken("It is being destroyed by somebody else");
        default:
          if (turn % reissueTurns === 0) await this.#createOrAdopt();
          return undefined;
      }
    });
  }

  stop(): Promise<WorkResult> {
    return this.#until("hibernated", async ({ phase }, turn) => {
      switch (phase) {
        case "hibernated":
          return { state: hibernatedState };
        case "absent":
        case "destroying":
          return this.#broken("It is gone");
        case "stopping":
          if (turn % reissueTurns !== 0) return undefined;
      }
      await this.#call(() => this.#driver.hibernate(this.#ref, this.#options));
      return undefined;
    });
  }

  wake(): Promise<WorkResult> {
    return this.#until("ready", async ({ phase }, turn) => {
      switch (phase) {
        case "ready":
          return this.#opened();
        case "absent":
        case "destroying":
          return this.#broken("It is gone");
        case "resuming":
        case "creating":
          if (turn % reissueTurns !== 0 || turn === 0) return undefined;
      }
      await this.#call(() => this.#driver.resume(this.#ref, this.#options));
      return undefined;
    });
  }

  async destroy(): Promise<WorkResult> {
    for (let turn = 0; ; turn++) {
      const seen = await this.#verified(await this.#observe());
      if (seen.phase === "absent") return { state: tombstoneState };
      if (turn === 0 && isEvidence(seen)) await this.#collectLogs(seen.message ?? seen.phase);
      if (seen.phase !== "destroying" || turn % reissueTurns === 0) {
        await this.#call(() => this.#driver.destroy(this.#ref, this.#options)).catch(
          async (error: unknown) => {
            if (error instanceof DriverError) await this.#blockedBy([error.message]);
            throw error;
          },
        );
      }
      if (seen.blocking !== undefined) await this.#blockedBy(seen.blocking);
      await this.#tell(seen);
      await pause(pollDelayMs(turn), this.#tools.signal);
    }
  }

  /** What is absent for the driver may have left something behind; then it is not gone. */
  async #verified(seen: Observation): Promise<Observation> {
    const { remaining } = this.#tools;
    if (seen.phase !== "absent" || remaining === undefined) return seen;
    const blocking = await this.#call(() => remaining(this.#ref, this.#options)).catch(
      async (error: unknown) => {
        if (error instanceof DriverError) await this.#blockedBy([error.message]);
        throw error;
      },
    );
    if (blocking.length === 0) return seen;
    return { phase: "destroying", message: `Something is left: ${blocking.join(", ")}`, blocking };
  }

  /** Acts on what is observed until a step ends it, or until something else is wanted. */
  async #until(
    wanted: "ready" | "hibernated",
    act: (seen: Observation, turn: number) => Promise<Step>,
  ): Promise<WorkResult> {
    for (let turn = 0; ; turn++) {
      try {
        const seen = await this.#observe();
        if (seen.phase === "failed") return await this.#broken(seen.message ?? "It has failed");
        const end = await act(seen, turn);
        if (end !== undefined) return end;
        if ((await this.#tell(seen)) !== wanted) return {};
      } catch (error) {
        if (!(error instanceof Hopeless || error instanceof Conflict)) throw error;
        return this.#broken(error.message);
      }
      await pause(pollDelayMs(turn), this.#tools.signal);
    }
  }

  /** The handle is durable before anything else happens. */
  async #createOrAdopt(): Promise<void> {
    const { template, revision, hub } = this.#task;
    const handle = await this.#call(() =>
      this.#driver.create(
        {
          ...{ name: this.#ref.name, instance: this.#ref.instance, template, revision },
          ...{ parameters: this.#tools.parameters, tags: tagsOf(this.#task) },
          ...(hub === null ? undefined : { hub }),
        },
        this.#options,
      ),
    );
    this.#handle = handle;
    await this.#task.report({ handle: JSON.stringify(handle) });
  }

  /** A cluster is free only when its access is stored. */
  async #opened(): Promise<WorkResult> {
    if (!this.#driver.capabilities.mintsAccess) {
      try {
        const bundle = await this.#call(() => this.#driver.credentials(this.#ref, this.#options));
        await this.#task.putAccess(bundle);
      } catch (error) {
        if (!(error instanceof Absent)) throw error;
        return this.#broken(error.message);
      }
    }
    return { state: freeState };
  }

  async #broken(why: string): Promise<WorkResult> {
    const failure = why.slice(-messageLengthMax);
    await this.#collectLogs(failure);
    return { state: brokenState, failure };
  }

  /** Never longer than its budget, and never a reason to fail: the rest must go on. */
  async #collectLogs(why: string): Promise<void> {
    try {
      const text = await this.#call(() => this.#driver.logs(this.#ref, logBudget, this.#options));
      if (text !== "") await this.#task.putLogs(why, text);
    } catch {
      this.#tools.signal.throwIfAborted();
    }
  }

  async #observe(): Promise<Observation> {
    const seen = await this.#call(() => this.#tools.observe(this.#ref, this.#options));
    const { apiUrl, version } = seen;
    if (seen.phase === "ready" && (apiUrl !== undefined || version !== undefined)) {
      await this.#task.report({
        ...(apiUrl === undefined ? undefined : { apiUrl }),
        ...(version === undefined ? undefined : { version: version.slice(0, versionLengthMax) }),
      });
    }
    return seen;
  }

  #tell({ message = "", progress }: Observation) {
    const text = message.slice(-messageLengthMax);
    return this.#task.report({ message: text, progress: progress ?? null });
  }

  async #blockedBy(stuck: readonly string[]): Promise<void> {
    await this.#task.report({ stuck: stuck.map((text) => text.slice(0, 1_000)).slice(0, 100) });
  }

  get #ref(): ClusterRef {
    const { name, instance } = refOf(this.#task);
    return {
      name,
      instance,
      ...(this.#handle === undefined ? undefined : { handle: this.#handle }),
    };
  }

  get #options() {
    return { signal: this.#tools.signal };
  }

  #call<Result>(call: () => Promise<Result>): Promise<Result> {
    return this.#tools.calls.run(() => {
      this.#tools.signal.throwIfAborted();
      return call();
    });
  }
}

/** A cluster that did not end as it should. One that was only used has nothing to tell. */
function isEvidence({ phase }: Observation): boolean {
  return !["ready", "hibernated", "destroying", "absent"].includes(phase);
}
