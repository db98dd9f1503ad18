/** The namespace driver on a real API server: its rights, its token, and how it goes away. */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pause } from "../src/client/pause.ts";
import {
  type DriverWorld,
  reached,
  refOf,
  specFor,
  testDriver,
} from "../src/drivers/driver.suite.ts";
import { Hopeless, Retry } from "../src/drivers/driver.ts";
import { NamespaceDriver } from "../src/drivers/namespace/namespace-driver.ts";
import { ApiServer } from "../src/kubernetes/api-server.ts";
import type { KubeObject } from "../src/kubernetes/kube-objects.ts";
import { noKube } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const quota = { pods: "3", "count/configmaps": "5" };
const owner = { broker: "berth", expiryMs: 3_600_000 };

async function world(): Promise<DriverWorld & { readonly api: ApiServer }> {
  const cluster = sharedCluster();
  const api = await cluster.admin();
  const finalizer = cluster.hasControllers ? undefined : finalizeNamespaces(api);
  const find = (name: string) =>
    api.call<KubeObject>({ path: ["api", "v1", "namespaces", name] }).catch((error: unknown) => {
      expect(String(error)).toContain(`namespaces "${name}" not found`);
      return undefined;
    });
  return {
    api,
    driver: new NamespaceDriver({ connect: () => cluster.admin(), quota, owner }),
    occupy: async (name) => {
      await cluster.create(["api", "v1", "namespaces"], { metadata: { name } });
    },
    exists: async (name) => (await find(name)) !== undefined,
    [Symbol.asyncDispose]: async () => finalizer?.stop(),
  };
}

/** What the namespace controller does in the end, where there is none. */
function finalizeNamespaces(api: ApiServer): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const path = ["api", "v1", "namespaces"];
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const query = { labelSelector: "berth/template" };
      const { items } = await api.call<{ items: readonly KubeObject[] }>({ path, query });
      for (const each of items) {
        if (each.metadata.deletionTimestamp === undefined) continue;
        const accounts = [...path, each.metadata.name, "serviceaccounts"];
        await api.call({ method: "DELETE", path: accounts }).catch(() => {});
        const body = { ...each, apiVersion: "v1", kind: "Namespace", spec: { finalizers: [] } };
        const call = {
          method: "PUT" as const,
          path: [...path, each.metadata.name, "finalize"],
          body,
        };
        await api.call(call).catch(() => {});
      }
      await pause(100);
    }
  };
  const done = run();
  return {
    stop: () => {
      stopped.abort();
      return done;
    },
  };
}

describe.skipIf(noKube)("on Kubernetes", () => {
  testDriver("namespace", world);

  describe("a namespace", () => {
    let here: Awaited<ReturnType<typeof world>>;
    beforeEach(async () => {
      here = await world();
    });
    afterEach(() => here[Symbol.asyncDispose]());

    const made = async (more = {}) => {
      const spec = specFor(more);
      await here.driver.create(spec);
      await reached(here.driver, refOf(spec), "ready");
      return spec;
    };
    const kubectl = (kubeconfig: string, ...args: readonly string[]) => {
      const program = join(sharedCluster().binaries, "kubectl");
      return execFileSync(program, ["--kubeconfig", kubeconfig, ...args], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    };
    const access = async (ref: { name: string; instance: string }, until?: Date) => {
      const bundle = await here.driver.credentials(ref, until && { until });
      const path = join(sharedCluster().folder, `${ref.name}.kubeconfig`);
      await writeFile(path, bundle.kubeconfig, { mode: 0o600 });
      return { path, ...bundle };
    };

    test("can be used with kubectl, within its quota and its borders", async () => {
      const [one, other] = [await made(), await made()];
      const { path } = await access(refOf(one));
      kubectl(path, "create", "configmap", "mine", "--from-literal", "a=b");
      expect(kubectl(path, "get", "configmaps", "-o", "name")).toContain("configmap/mine");
      expect(kubectl(path, "auth", "can-i", "create", "deployments.apps")).toContain("yes");
      for (const [verb, what, ...rest] of [
        ["get", "configmaps", "-n", other.name],
        ["create", "namespaces"],
        ["delete", "resourcequotas"],
        ["update", "networkpolicies.networking.k8s.io"],
        ["create", "serviceaccounts", "--subresource", "token"],
        ["get", "secrets", "-n", "kube-system"],
      ] as const) {
        expect(
          () => kubectl(path, "auth", "can-i", verb, what, ...rest),
          `${verb} ${what}`,
        ).toThrow();
      }
      const parts = kubectl(
        sharedCluster().adminConfig,
        ...["get", "quota,networkpolicy,role,rolebinding", "-n", one.name, "-o", "name"],
      );
      expect(parts.trim().split("\n").sort()).toEqual([
        "networkpolicy.networking.k8s.io/berth",
        "resourcequota/berth",
        "role.rbac.authorization.k8s.io/berth",
        "rolebinding.rbac.authorization.k8s.io/berth",
      ]);
    });

    test("has the quota of its parameters", async () => {
      const spec = await made({ parameters: { pods: 7 } });
      const { spec: found } = await here.api.call<{ spec: { hard: object } }>({
        path: ["api", "v1", "namespaces", spec.name, "resourcequotas", "berth"],
      });
      expect(found.hard).toEqual({ pods: "7", "count/configmaps": "5" });
    });

    test("has a token that ends with the lease, and earlier only by a little", async () => {
      const spec = await made();
      const until = new Date(Date.now() + 2 * 3_600_000);
      const { expiresAt = "" } = await access(refOf(spec), until);
      expect(Date.parse(expiresAt)).toBeLessThanOrEqual(until.getTime() + 2_000);
      expect(Date.parse(expiresAt)).toBeGreaterThan(until.getTime() - 60_000);
    });

    test("ends the token when it is destroyed, long before the token expires", async () => {
      const spec = await made();
      const { path } = await access(refOf(spec));
      expect(kubectl(path, "get", "pods")).toBe("");
      await here.driver.destroy(refOf(spec));
      await reached(here.driver, refOf(spec), "absent");
      await expect
        .poll(
          () => {
            try {
              return kubectl(path, "get", "pods");
            } catch (error) {
              return String((error as { stderr: unknown }).stderr);
            }
          },
          { timeout: 40_000, interval: 500 },
        )
        .toMatch(/Unauthorized|logged in/);
    });

    test("is finished by a second create if the first one died half-way", async () => {
      const spec = specFor();
      const { name, instance } = spec;
      const whole = new NamespaceDriver({ connect: () => sharedCluster().admin(), quota, owner });
      const halfway = new NamespaceDriver({
        connect: async () => dyingAfter(await sharedCluster().admin(), 2),
        ...{ quota, owner },
      });
      await expect(halfway.create(spec)).rejects.toThrow(Retry);
      expect(await whole.observe({ name, instance })).toMatchObject({ phase: "creating" });
      await expect(whole.credentials({ name, instance })).rejects.toThrow();
      await whole.create(spec);
      expect(await whole.observe({ name, instance })).toMatchObject({ phase: "ready" });
      expect((await whole.list()).filter((each) => each.instance === instance)).toHaveLength(1);
    });

    test("is not made again while it is being deleted", async () => {
      const spec = await made();
      const path = ["api", "v1", "namespaces", spec.name, "configmaps"];
      const stubborn = { metadata: { name: "stubborn", finalizers: ["example.com/stays"] } };
      await here.api.call({ method: "POST", path, body: stubborn });
      await here.driver.destroy(refOf(spec));
      if (sharedCluster().hasControllers) {
        await expect(here.driver.create(spec)).rejects.toThrow(Hopeless);
        // What blocks its deletion is told, as the namespace controller tells it.
        await expect
          .poll(() => here.driver.observe(refOf(spec)), { timeout: 40_000, interval: 200 })
          .toMatchObject({
            phase: "destroying",
            blocking: expect.arrayContaining([expect.stringContaining("example.com/stays")]),
          });
      }
      const body = { metadata: { ...stubborn.metadata, finalizers: [] } };
      await here.api.call({ method: "PUT", path: [...path, "stubborn"], body }).catch(() => {});
      await reached(here.driver, refOf(spec), "absent");
    });

    test("belongs to one installation, a space and a time, as its labels say", async () => {
      const spec = await made();
      await here.driver.mark?.(refOf(spec), { "berth-space": "payments" });
      await here.driver.mark?.({ ...refOf(spec), instance: "other" }, { "berth-space": "thieves" });
      const path = ["api", "v1", "namespaces", spec.name];
      const { metadata } = await here.api.call<KubeObject>({ path });
      expect(metadata.labels).toMatchObject({
        ...{ "berth/broker": "berth", "berth-space": "payments", "berth/template": "small" },
        "berth/expires": expect.stringMatching(/^\d{10}$/),
      });
      const others = { broker: "berth-two" };
      const connect = () => sharedCluster().admin();
      const two = new NamespaceDriver({ connect, quota, owner: others });
      const ours = async (driver: NamespaceDriver) =>
        (await driver.list()).filter(({ name }) => name === spec.name).length;
      const one = new NamespaceDriver({ connect, quota, owner });
      expect([await ours(one), await ours(two)]).toEqual([1, 0]);
      // One of a version that wrote no broker.
      const body = { metadata: { labels: { "berth/broker": null } } };
      await here.api.call({ method: "PATCH", path, body });
      expect(await ours(one)).toBe(1);
    });

    test("has logs: events and pods", async () => {
      const spec = await made();
      const event = {
        metadata: { name: "e1" },
        involvedObject: { kind: "Pod", name: "p", namespace: spec.name },
        ...{ type: "Warning", reason: "Failed", message: "no such image" },
      };
      const path = ["api", "v1", "namespaces", spec.name, "events"];
      await here.api.call({ method: "POST", path, body: event });
      const text = await here.driver.logs(refOf(spec), { bytesMax: 4_000, timeMsMax: 10_000 });
      expect(text).toContain("Warning Pod/p Failed: no such image");
    });

    test("a server that cannot be reached is a reason to try again", async () => {
      const url = "https://127.0.0.1:9";
      const kubeconfig = await sharedCluster().configFor("gone", "t", url);
      const driver = new NamespaceDriver({
        connect: () => ApiServer.connect({ kubeconfig }),
        ...{ quota, owner },
      });
      await expect(driver.observe(refOf(specFor()))).rejects.toThrow(Retry);
      await expect(driver.list()).rejects.toThrow(Retry);
    });
  });
});

/** An API server whose connection breaks after some calls. */
function dyingAfter(api: ApiServer, calls: number): ApiServer {
  let left = calls;
  return new Proxy(api, {
    get: (target, key) => {
      if (key !== "call") return Reflect.get(target, key, target);
      return (call: Parameters<ApiServer["call"]>[0]) => {
        left -= 1;
        if (left < 0) return Promise.reject(new Error("the connection broke"));
        return target.call(call);
      };
    },
  });
}
