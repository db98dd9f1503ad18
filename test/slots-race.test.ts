import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { pause } from "../src/client/pause.ts";
import { Process } from "./cli-processes.ts";
import { noKube, patienceMs } from "./kube-binaries.ts";
import { RaceReferee } from "./race-referee.ts";
import { sharedCluster } from "./shared-cluster.ts";
import type { RaceTask, Use } from "./slots-racer.ts";
import { SlotsWorld } from "./slots-world.ts";

const racerPath = fileURLToPath(new URL("slots-racer.ts", import.meta.url));
const racers = 50;
const batch = 4;
const beginMsMax = 150_000;
const slots = 6;
const raceMs = 60_000;
/** Longer than the lease: who sleeps for so long has lost its slot. */
const sleepMs = 7_000;
const durationSeconds = 5;

const cluster = sharedCluster();

/** Kills, or puts to sleep for longer than a lease, whoever it hits. */
class Chaos {
  readonly #start: () => Process;
  readonly #running: Process[] = [];
  readonly #asleep = new Set<Process>();
  kills = 0;
  naps = 0;

  constructor(start: () => Process) {
    this.#start = start;
  }

  /**
   * A few at a time: fifty that load their code at once would stop the machine. One that is too slow for
   * fifty races with those that it could start.
   */
  async begin(): Promise<void> {
    const untilMs = performance.now() + beginMsMax;
    while (this.#running.length < racers && performance.now() < untilMs) {
      const left = Math.min(batch, racers - this.#running.length);
      this.#running.push(...Array.from({ length: left }, this.#start));
      await this.ready();
    }
    for (const racer of this.#running) racer.type("go\n");
  }

  get all(): readonly Process[] {
    return this.#running;
  }

  /** All have begun; a signal before that would end one as if it had been killed. */
  async ready(): Promise<void> {
    await Promise.all(this.#running.map((racer) => racer.says(/ready/)));
  }

  async reign(forMs: number): Promise<void> {
    const untilMs = performance.now() + forMs;
    const naps: Promise<void>[] = [];
    while (performance.now() < untilMs) {
      await pause(400);
      const at = Math.floor(Math.random() * racers);
      const hit = this.#running[at];
      if (hit === undefined || this.#asleep.has(hit)) continue;
      if (Math.random() < 0.3) this.#kill(at, hit);
      else if (this.#asleep.size < racers / 5) naps.push(this.#nap(hit));
    }
    await Promise.all(naps);
  }

  #kill(at: number, hit: Process): void {
    this.kills += 1;
    hit.signal("SIGKILL");
    const next = this.#start();
    next.type("go\n");
    this.#running[at] = next;
  }

  async #nap(hit: Process): Promise<void> {
    this.naps += 1;
    this.#asleep.add(hit);
    hit.signal("SIGSTOP");
    await pause(sleepMs);
    hit.signal("SIGCONT");
    this.#asleep.delete(hit);
  }
}

/** Two who both thought that they held one slot at the same time. */
function overlaps(uses: readonly Use[]): string[] {
  const bySlot = Map.groupBy(uses, ({ slot }) => slot);
  return [...bySlot].flatMap(([slot, all]) => {
    const spans = [...Map.groupBy(all, ({ fence }) => fence)]
      .map(([fence, each]) => {
        const times = each.map(({ atMs }) => atMs);
        return { fence, fromMs: Math.min(...times), toMs: Math.max(...times) };
      })
      .sort((one, other) => one.fence - other.fence);
    return spans.flatMap((span, at) => {
      const next = spans[at + 1];
      if (next === undefined || next.fromMs > span.toMs) return [];
      return [`slot ${slot}: ${span.fence} until ${span.toMs}, ${next.fence} from ${next.fromMs}`];
    });
  });
}

describe.skipIf(noKube)("slots", { timeout: patienceMs }, () => {
  test("are held by one process at a time and granted in order, although 50 processes race, die and oversleep", {
    timeout: raceMs + 2 * patienceMs,
  }, async () => {
    await using world = await SlotsWorld.make(cluster, slots);
    const log = join(world.folder, "uses.log");
    const { namespace } = world.set;
    const kubeconfig = world.jobConfig;
    const task: RaceTask = {
      kubeconfig,
      namespace,
      count: slots,
      durationSeconds,
      turnMs: 2_000,
      log,
    };
    await using referee = await RaceReferee.watch(world.store, "slot");
    let names = 0;
    const chaos = new Chaos(() => {
      const args = [process.execPath, racerPath, `racer-${++names}`, JSON.stringify(task)];
      return new Process("nice", ["-n", "10", ...args], world.env); // Other tests go first.
    });
    await chaos.begin();
    await chaos.reign(raceMs);
    await chaos.ready();
    for (const racer of chaos.all) racer.signal("SIGTERM");
    const codes = await Promise.all(chaos.all.map(({ ended }) => ended));
    const complaints = chaos.all.map(({ stderr }) => stderr).filter((text) => /Error/.test(text));
    const lines = (await readFile(log, "utf8")).trim().split("\n");
    const uses = lines.map((line) => JSON.parse(line) as Use);

    expect(overlaps(uses)).toEqual([]);
    expect(Math.max(...uses.map(({ slot }) => slot))).toBeLessThan(slots);
    expect(referee.violations).toEqual([]);
    expect(complaints).toEqual([]);
    expect(new Set(codes)).toEqual(new Set([0]));
    const { grants } = referee;
    console.log(
      `${chaos.all.length} racers, ${grants} grants, ${chaos.kills} kills, ${chaos.naps} naps, ${uses.length} uses`,
    );
    expect(chaos.all.length).toBeGreaterThan(slots);
    expect(grants).toBeGreaterThan(slots);
    expect(chaos.kills).toBeGreaterThan(0);
    expect(chaos.naps).toBeGreaterThan(0);
  });
});
