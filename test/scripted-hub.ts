/**
 * Controllers of a hub, played by a test: what the real ones do with a cloud, in milliseconds and without
 * one. They look at objects again and again, one small step at a time, as controllers do; a step that
 * fails because somebody else was faster is made again in the next pass.
 */
import { pause } from "../src/client/pause.ts";
import { DriverError } from "../src/drivers/driver.ts";
import type { StatusObject } from "../src/drivers/hub/conditions.ts";
import { HubApi, type Within } from "../src/drivers/hub/hub-api.ts";
import { apiVersionOf, type Kind, pathOf } from "../src/drivers/hub/kind.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import type { KubeCluster } from "./kube-cluster.ts";

const passEveryMs = 40;

export class ScriptedHub implements AsyncDisposable {
  readonly api: HubApi;
  readonly #stopped = new AbortController();
  readonly #passes: Promise<void>[] = [];

  constructor(cluster: KubeCluster) {
    this.api = new HubApi(() => cluster.admin());
  }

  /** Calls it until the end of the test. */
  run(pass: () => Promise<void>): void {
    const loop = async (): Promise<void> => {
      while (!this.#stopped.signal.aborted) {
        await pass().catch((error: unknown) => {
          if (!(error instanceof DriverError)) throw error;
        });
        await pause(passEveryMs);
      }
    };
    this.#passes.push(loop());
  }

  async setStatus(kind: Kind, { metadata }: KubeObject, status: object): Promise<void> {
    const path = [...pathOf(kind, metadata.namespace, metadata.name), "status"];
    await this.api.call({ method: "PATCH", path, body: { status } });
  }

  /** Replaces one condition and leaves the others. */
  async setCondition(
    kind: Kind,
    object: StatusObject,
    condition: { type: string; status: string; reason?: string; message?: string },
    more: object = {},
  ): Promise<void> {
    const others = (object.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    const at = new Date().toISOString();
    const written = { reason: "Scripted", message: "", lastTransitionTime: at, ...condition };
    await this.setStatus(kind, object, { conditions: [...others, written], ...more });
  }

  async change(kind: Kind, { metadata }: KubeObject, body: object): Promise<void> {
    const path = pathOf(kind, metadata.namespace, metadata.name);
    await this.api.call({ method: "PATCH", path, body });
  }

  async addFinalizer(kind: Kind, object: KubeObject, finalizer: string): Promise<boolean> {
    const { finalizers = [], deletionTimestamp } = object.metadata;
    if (finalizers.includes(finalizer) || deletionTimestamp !== undefined) return false;
    await this.change(kind, object, { metadata: { finalizers: [...finalizers, finalizer] } });
    return true;
  }

  async dropFinalizers(kind: Kind, object: KubeObject): Promise<void> {
    await this.change(kind, object, { metadata: { finalizers: null } });
  }

  async make(kind: Kind, name: string, more: object, within: Within = {}): Promise<KubeObject> {
    const { metadata = {}, ...rest } = more as { metadata?: object };
    const body = {
      ...{ apiVersion: apiVersionOf(kind), kind: kind.kind },
      ...{ metadata: { name, ...metadata }, ...rest },
    };
    return this.api.create(kind, body, within);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#passes);
  }
}
