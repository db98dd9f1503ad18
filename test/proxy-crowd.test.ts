/**
 * Two hundred and fifty jobs with a proxy each, a pool that starts one after the other, and a server
 * that is killed among them.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { BerthClient } from "../src/client/berth-client.ts";
import { SqliteJournalReader } from "../src/journal/sqlite-reader.ts";
import { JobLeases } from "../src/workers/proxy/job-leases.ts";
import { LeaseProxy } from "../src/workers/proxy/lease-proxy.ts";
import { TestServer } from "./cli-processes.ts";

const jobs = 245;
const processes = 5;
const slots = 20;
/** Twenty-four seconds, made small: slower than the machine, so that the pace is what they wait for. */
const everyMs = 60;
const burst = 3;
const pools = {
  slot: { count: slots, lockDelay: "0s", pace: { every: `${everyMs}ms`, burst } },
};
/** A crowd on a loaded machine takes its time. */
const crowdMs = 300_000;

/** Who holds what by its own account; two at once is what must never be. */
class Account {
  readonly #held = new Set<string>();
  readonly lentTwice: string[] = [];
  most = 0;
  grants = 0;

  take(name: string): void {
    if (this.#held.has(name)) this.lentTwice.push(name);
    this.#held.add(name);
    this.most = Math.max(this.most, this.#held.size);
    this.grants += 1;
  }

  giveBack(name: string): void {
    this.#held.delete(name);
  }
}

async function job(url: string, number: number, account: Account): Promise<void> {
  const client = new BerthClient({ url });
  const leases = new JobLeases({ client, holder: `job-${number}`, note: () => {} });
  const proxy = await LeaseProxy.start(leases);
  const asked = await fetch(`${proxy.url}/lease/acquire?type=slot`, { method: "POST" });
  const { names } = (await asked.json()) as { names: string[] };
  for (const name of names) account.take(name);
  expect(names).toHaveLength(1);
  await new Promise((resolve) => setImmediate(resolve));
  for (const name of names) account.giveBack(name);
  const body = JSON.stringify({ names });
  const released = await fetch(`${proxy.url}/lease/release`, { method: "POST", body });
  expect(released.status).toBe(204);
  await leases.close();
  await proxy.close();
}

/** When the server granted what, by its own journal: the oldest first. */
async function grantedTimes(server: TestServer): Promise<number[]> {
  const journal = new SqliteJournalReader(join(server.folder, "data", "journal.db"));
  const times: number[] = [];
  for await (const { at, events } of journal.read(0)) {
    for (const { type } of events) if (type === "lease-granted") times.push(at);
  }
  journal.close();
  return times;
}

/** Those that came sooner than the pace allows, counted from any of the grants before. */
function tooSoon(times: readonly number[]): string[] {
  return times.flatMap((time, index) =>
    times.slice(0, index).flatMap((before, earlier) => {
      const leastMs = (index - earlier + 1 - burst) * everyMs;
      const gap = `${index} came ${time - before} ms after ${earlier}, not ${leastMs}`;
      return time - before < leastMs ? [gap] : [];
    }),
  );
}

test("tooSoon() allows a burst, and nothing beyond it", () => {
  expect(tooSoon([0, 0, 0, everyMs, 2 * everyMs])).toEqual([]);
  expect(tooSoon([0, 0, 0, everyMs - 1])).toEqual([`3 came 59 ms after 0, not 60`]);
  expect(tooSoon([0, 0, 0, everyMs, everyMs])).toEqual([`4 came 60 ms after 0, not 120`]);
});

test(
  "250 jobs start through one proxy each, evenly spaced; none is lost, and nothing is lent twice, although the server is killed",
  async () => {
    await using server = await TestServer.start(pools);
    const account = new Account();
    const script = `source "$LEASE_PROXY_CLIENT_SH"
    handle=$(lease__acquire --type=slot --scope=step) && lease__release --handle="$handle"`;
    const real = Array.from({ length: processes }, () =>
      server.berth(["run", "--proxy", "--", "bash", "--norc", "-ec", script], {
        LEASE_HANDLE_DIR: server.folder,
      }),
    );
    let third: () => void = () => {};
    const middle = new Promise<void>((resolve) => {
      third = resolve;
    });
    const crowd = Array.from({ length: jobs }, (_, number) =>
      job(server.url, number, account).then(() => {
        if (account.grants >= jobs / 3) third();
      }),
    );
    const everybody = Promise.all(crowd);
    await Promise.race([middle, everybody]);
    const before = account.grants;
    await server.stop("SIGKILL");
    await server.start();
    await everybody;
    expect(before).toBeLessThan(jobs);
    expect(account).toMatchObject({ grants: jobs, lentTwice: [] });
    expect(account.most).toBeLessThanOrEqual(slots);
    for (const { ended } of real) expect(await ended).toBe(0);
    expect(await server.json("leases")).toEqual([]);
    expect(await server.json("queue")).toEqual([]);
    await server.stop();
    const times = await grantedTimes(server);
    expect(times).toHaveLength(jobs + processes);
    expect(tooSoon(times)).toEqual([]);
  },
  crowdMs,
);
