import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newTicket } from "../src/slots/ticket.ts";
import { finished } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { hostedCluster } from "./kube-kinds.ts";
import { sharedCluster } from "./shared-cluster.ts";
import { SlotsWorld } from "./slots-world.ts";

const cluster = sharedCluster();

describe.skipIf(noKube)("berth slots", { timeout: patienceMs }, () => {
  test("acquire takes the lowest free slot and writes holder, times and fence", async () => {
    await using world = await SlotsWorld.make(cluster);
    const acquired = await world.done(["acquire"]);
    expect(acquired.stdout).toBe("0\n");
    expect(acquired.code).toBe(0);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(await world.slot(0)).toMatchObject({
      metadata: { labels: { app: "berth-slots", slot: "0" } },
      spec: {
        holderIdentity: "pr1:1",
        leaseDurationSeconds: 7_200,
        acquireTime: time,
        renewTime: time,
        leaseTransitions: 1,
      },
    });
    const other = await world.done(["acquire", "-o", "json"], { CLUSTER_SUFFIX: "pr2" });
    expect(JSON.parse(other.stdout)).toMatchObject({ slot: 1, identity: "pr2:1", fence: 2 });
  });

  test("acquire writes the outputs and the summary of a GitHub job", async () => {
    await using world = await SlotsWorld.make(cluster);
    const [output, summary] = [join(world.folder, "output"), join(world.folder, "summary")];
    await world.done(["acquire"], { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary });
    expect(await readFile(output, "utf8")).toBe("slot_id=0\nslot_fence=1\nslot_holder=pr1:1\n");
    expect(await readFile(summary, "utf8")).toMatch(/^Slot \*\*0\*\* .*`pr1:1`/);
  });

  test("the fence grows with every grant, also of a released slot", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const fences: number[] = [];
    for (const run of ["1", "2", "3"]) {
      const env = { GITHUB_RUN_ID: run };
      const { stdout } = await world.done(["acquire", "-o", "json"], env);
      fences.push(JSON.parse(stdout).fence);
      expect((await world.done(["release"], env)).stderr).toBe("Released slot 0\n");
    }
    expect(fences).toEqual([1, 2, 3]);
  });

  test("run sets the variables of its command, releases the slot, and exits with the code of the command", async () => {
    await using world = await SlotsWorld.make(cluster);
    const script =
      'echo "$BERTH_SLOT_ID $BERTH_SLOT_NAME $BERTH_SLOT_FENCE $BERTH_SLOT_HOLDER"; exit 7';
    const run = await world.done(["run", "--", "sh", "-c", script]);
    expect(run.code).toBe(7);
    expect(run.stdout).toBe("0 berth-slot-0 1 pr1:1\n");
    expect(run.stderr).toBe("Acquired slot 0 for pr1:1\nReleased slot 0\n");
    expect(await world.holders()).toEqual([]);
  });

  test("run renews a slot for longer than its duration", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const args = ["run", "--lease-duration", "2s", "--", "sh", "-c", "read -r line; echo $line"];
    const run = world.slots(args);
    await run.says(/Acquired/);
    const waiter = world.slots(["acquire", "--timeout", "6s"], { GITHUB_RUN_ID: "2" });
    expect(await waiter.ended).toBe(75);
    expect(waiter.stderr).toMatch(
      /Cannot get a slot: none was free within \ds\. The only slot is held; you/,
    );
    run.type("done\n");
    expect(await run.ended).toBe(0);
  });

  test("run stops its command at once when the slot is deleted", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const run = world.slots(["run", "--grace", "1s", "--", "sleep", "600"]);
    await run.says(/Acquired/);
    world.kubectl("delete", "lease", "berth-slot-0");
    expect(await run.ended).toBe(76);
    expect(run.stderr).toMatch(/SLOT LOST\. .*berth-slot-0: it was deleted; stopping sleep/);
  });

  test("release and renew find the slot of this shell without a name", async () => {
    await using world = await SlotsWorld.make(cluster);
    // Processes, because the shell that started them is part of the holder's name.
    const run = (...args: string[]) => finished(world.slots(args, { GITHUB_RUN_ID: "" }));
    await run("acquire", "--lease-duration", "1h");
    const renewed = await run("renew");
    expect(renewed.stdout).toBe("Renewed slot 0 for 1h\n");
    expect((await run("release", "0")).stderr).toBe("Released slot 0\n");
    expect((await run("release", "0")).stderr).toBe("Slot 0 was already free\n");
    const lost = await run("renew");
    expect(lost.code).toBe(76);
  });

  test("a slot with a new holder cannot be renewed or released by the former one", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const old = { GITHUB_RUN_ID: "1" };
    await world.done(["acquire", "--lease-duration", "2s"], old);
    const next = await world.done(["acquire", "-o", "json"], { GITHUB_RUN_ID: "2" });
    const taken = JSON.parse(next.stdout);
    expect(taken.fence).toBeGreaterThan(1);
    expect((await world.slot(0))?.spec?.leaseTransitions).toBe(taken.fence);
    const renewed = await world.done(["renew", "0"], old);
    expect(renewed.code).toBe(77);
    expect(renewed.stderr).toContain('Cannot renew slot 0: "pr1:2" has it, and you are "pr1:1"');
    expect((await world.done(["release", "0"], old)).code).toBe(77);
    expect((await world.done(["renew"], old)).code).toBe(76);
    expect(await world.holders()).toEqual(["pr1:2"]);
  });

  test("--timeout 0 does not wait, and leaves nothing behind", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    await world.script(0, "pr9:1");
    const { code } = await world.done(["acquire", "--timeout", "0"]);
    expect(code).toBe(75);
    expect(await world.tickets()).toEqual([]);
  });

  test("status shows slots, waiting clients and clusters, and marks expired slots", async () => {
    await using world = await SlotsWorld.make(cluster, 3);
    const { namespace } = world.set;
    await world.script(0, "pr1:1");
    await world.script(2, "pr2:1", { leaseDurationSeconds: 1 });
    const ticket = { identity: "pr3:1", waitSeconds: 600, nowMs: Date.now() };
    await world.store.create(newTicket(world.set, ticket));
    await hostedCluster(cluster, namespace, "berth-pr1");
    await hostedCluster(cluster, namespace, "berth-pr12");
    await hostedCluster(cluster, namespace, "somebody-elses");
    const look = async () => JSON.parse((await world.done(["status", "-o", "json"])).stdout);
    const until = async (): Promise<unknown> => {
      const seen = await look();
      return seen.slots[2].state === "expired" ? seen : until();
    };
    expect(await until()).toMatchObject({
      slots: [
        { slot: 0, state: "held", holder: "pr1:1", cluster: "berth-pr1" },
        { slot: 1, state: "free", holder: null, cluster: null },
        { slot: 2, state: "expired", holder: "pr2:1", cluster: null },
      ],
      waiting: [{ position: 1, holder: "pr3:1" }],
      clusters: [
        { name: "berth-pr1", holder: "pr1:1" },
        { name: "berth-pr12", holder: null },
      ],
    });
    const { stdout } = await world.done(["status"]);
    expect(stdout).toMatch(/^SLOT +STATE +HOLDER +AGE +RENEWED +EXPIRES IN +CLUSTER\n/);
    expect(stdout).toMatch(/^ +0 +held +pr1:1 .* berth-pr1$/m);
    expect(stdout).toMatch(/^ +1 +free +-/m);
    expect(stdout).toMatch(/^ +2 +expired +pr2:1 .* now /m);
    expect(stdout).toMatch(/^PLACE +WAITING +FOR\n +1 +pr3:1 /m);
    expect(stdout).toMatch(/^berth-pr12 +creating +\d+s +no slot$/m);
  });

  test("status --watch shows a change when it happens", async () => {
    await using world = await SlotsWorld.make(cluster, 1);
    const watching = world.slots(["status", "--watch"]);
    await watching.says(/0 +free/);
    await world.script(0, "pr7:1");
    await watching.says(/0 +held +pr7:1/);
    watching.signal("SIGINT");
    expect(await watching.ended).toBe(130);
  });

  test("shares slots with scripts that use their own names", async () => {
    await using world = await SlotsWorld.make(cluster, 2);
    const script = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    const spec = { holderIdentity: "pr9:1", leaseDurationSeconds: 7_200 };
    await world.store.create({ ...script, metadata: { name: "rossoctl-ci-slot-0" }, spec });
    const { namespace } = world.set;
    const names = { SLOT_NAMESPACE: "", NAMESPACE: namespace, LEASE_PREFIX: "rossoctl-ci-slot" };
    expect((await world.done(["acquire"], { ...names, SLOT_APP: "rossoctl-ci" })).stdout).toBe(
      "1\n",
    );
    const shown = world.kubectl("get", "leases", "-l", "app=rossoctl-ci", "-o", "name").stdout;
    expect(shown).toBe("lease.coordination.k8s.io/rossoctl-ci-slot-1\n");
  });

  test("a slot that was created by hand is respected; without a duration it never expires", async () => {
    await using world = await SlotsWorld.make(cluster, 2);
    const hand = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    await world.store.create({ ...hand, metadata: { name: "berth-slot-0" } });
    expect((await world.done(["acquire"])).stdout).toBe("1\n");
    const shown = world.kubectl("get", "leases", "-l", "app=berth-slots", "-o", "wide").stdout;
    expect(shown).toMatch(/berth-slot-1 +pr1:1/);
    const script = ["get", "lease", "berth-slot-1", "-o", "jsonpath={.spec.holderIdentity}"];
    expect(world.kubectl(...script).stdout).toBe("pr1:1");
  });
});
