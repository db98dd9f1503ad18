/** What every driver promises, as tests on real clusters of it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pause } from "../client/pause.ts";
import {
  Absent,
  type ClusterRef,
  type ClusterSpec,
  Conflict,
  type Driver,
  Hopeless,
  type Phase,
} from "./driver.ts";
import { externalName } from "./names.ts";

export interface DriverWorld extends AsyncDisposable {
  readonly driver: Driver;
  /** Makes something outside that has this name and that the driver has not made. */
  occupy(name: string): Promise<void>;
  /** Whether something of this name is left outside, whoever made it. */
  exists(name: string): Promise<boolean>;
}

const budget = { bytesMax: 2_000, timeMsMax: 20_000 };
const reachedMsMax = 50_000;

let instances = 0;

export function specFor(more: Partial<ClusterSpec> = {}): ClusterSpec {
  const instance = more.instance ?? `suite-${process.pid}-${Date.now()}-${++instances}`;
  return {
    name: externalName(instance),
    instance,
    template: "small",
    revision: "r1",
    parameters: {},
    tags: { "berth-instance": instance },
    ...more,
  };
}

export const refOf = ({ name, instance }: ClusterSpec): ClusterRef => ({ name, instance });

/** Resolves once the cluster is observed in this phase. */
export async function reached(driver: Driver, ref: ClusterRef, phase: Phase): Promise<void> {
  const untilMs = performance.now() + reachedMsMax;
  for (;;) {
    const seen = await driver.observe(ref);
    if (seen.phase === phase) return;
    if (performance.now() > untilMs) {
      throw new Error(`It is ${seen.phase}, not ${phase}: ${seen.message ?? ""}`);
    }
    await pause(50);
  }
}

/** Destroys as the provisioner does: again, whenever the cluster is not being destroyed. */
export async function destroyed(driver: Driver, ref: ClusterRef): Promise<void> {
  const untilMs = performance.now() + reachedMsMax;
  for (;;) {
    const seen = await driver.observe(ref);
    if (seen.phase === "absent") return;
    if (performance.now() > untilMs) {
      throw new Error(`It is ${seen.phase}, not absent: ${seen.message ?? ""}`);
    }
    if (seen.phase !== "destroying") await driver.destroy(ref);
    await pause(50);
  }
}

export function testDriver(name: string, open: () => Promise<DriverWorld>): void {
  let world: DriverWorld;
  let driver: Driver;
  const made: ClusterSpec[] = [];

  beforeEach(async () => {
    world = await open();
    ({ driver } = world);
  });
  afterEach(async () => {
    for (const spec of made.splice(0)) await driver.destroy(refOf(spec)).catch(() => {});
    await world[Symbol.asyncDispose]();
  });

  async function ready(more: Partial<ClusterSpec> = {}): Promise<ClusterSpec> {
    const spec = specFor(more);
    made.push(spec);
    await driver.create(spec);
    await reached(driver, refOf(spec), "ready");
    return spec;
  }
  const ours = async (spec: ClusterSpec) =>
    (await driver.list()).filter(({ name }) => name === spec.name);

  describe(`the driver ${name}`, () => {
    test("makes one cluster for any number of equal calls, also at once", async () => {
      const spec = specFor();
      made.push(spec);
      const attempts = await Promise.allSettled([driver.create(spec), driver.create(spec)]);
      // One of two at once may be asked to try again, but never to give up.
      for (const each of attempts) {
        if (each.status === "rejected") expect(each.reason).toMatchObject({ name: "Retry" });
      }
      const handle = await driver.create(spec);
      await reached(driver, refOf(spec), "ready");
      expect(await driver.create(spec)).toEqual(handle);
      expect(await ours(spec)).toEqual([
        { name: spec.name, instance: spec.instance, createdAt: expect.stringMatching(/^\d{4}-/) },
      ]);
    });

    test("refuses another spec, or another owner, under the same name", async () => {
      const spec = await ready();
      await expect(driver.create({ ...spec, revision: "r2" })).rejects.toThrow(Conflict);
      await expect(driver.create({ ...spec, instance: "other" })).rejects.toThrow(Conflict);
      expect(await ours(spec)).toHaveLength(1);
      const taken = specFor();
      await world.occupy(taken.name);
      await expect(driver.create(taken)).rejects.toThrow(Conflict);
    });

    test("observes what does not exist as absent, and opens nothing of it", async () => {
      const ref = refOf(specFor());
      expect(await driver.observe(ref)).toEqual({ phase: "absent" });
      await expect(driver.credentials(ref)).rejects.toThrow(Absent);
      expect(await driver.logs(ref, budget)).toEqual(expect.any(String));
    });

    test("finds a cluster by its name alone, and hands out its kubeconfig", async () => {
      const spec = await ready();
      const { kubeconfig } = await driver.credentials(refOf(spec));
      expect(kubeconfig).not.toBe("");
      expect(await driver.observe(refOf(spec))).toMatchObject({ phase: "ready" });
    });

    test("destroys twice, and what is absent, without an error", async () => {
      const spec = await ready();
      await driver.destroy(refOf(spec));
      await driver.destroy(refOf(spec));
      await destroyed(driver, refOf(spec));
      await driver.destroy(refOf(spec));
      expect(await ours(spec)).toEqual([]);
      expect(await world.exists(spec.name)).toBe(false);
    });

    test("never touches another instance that has the name now", async () => {
      const spec = await ready();
      const late = { name: spec.name, instance: "an-older-one" };
      await driver.destroy(late);
      expect(await driver.observe(late)).toEqual({ phase: "absent" });
      await expect(driver.credentials(late)).rejects.toThrow(Absent);
      expect(await driver.observe(refOf(spec))).toMatchObject({ phase: "ready" });
      const [foreign] = [specFor()];
      await world.occupy(foreign.name);
      await driver.destroy(refOf(foreign));
      expect(await world.exists(foreign.name)).toBe(true);
    });

    test("destroys one of two whose names begin alike, and not the other", async () => {
      const stem = `x-${process.pid}-${++instances}-pr`; // Others may test on the same hub.
      const [one, other] = [await ready({ name: `${stem}1` }), await ready({ name: `${stem}12` })];
      await destroyed(driver, refOf(one));
      expect(await driver.observe(refOf(other))).toMatchObject({ phase: "ready" });
    });

    test("collects logs within a budget", async () => {
      const spec = await ready();
      const text = await driver.logs(refOf(spec), { bytesMax: 10, timeMsMax: 20_000 });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(200);
    });

    test("hibernates and resumes, again and again, or says that it cannot", async () => {
      const spec = await ready();
      const ref = refOf(spec);
      if (!driver.capabilities.hibernates) {
        await expect(driver.hibernate(ref)).rejects.toThrow(Hopeless);
        await expect(driver.resume(ref)).rejects.toThrow(Hopeless);
        return;
      }
      await driver.hibernate(ref);
      await driver.hibernate(ref);
      await reached(driver, ref, "hibernated");
      await driver.resume(ref);
      await driver.resume(ref);
      await reached(driver, ref, "ready");
      await expect(driver.hibernate(refOf(specFor()))).rejects.toThrow(Absent);
      await expect(driver.resume(refOf(specFor()))).rejects.toThrow(Absent);
    });

    test("stops when it is aborted", async () => {
      const spec = await ready();
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(driver.observe(refOf(spec), { signal })).rejects.toThrow("enough");
    });
  });
}
