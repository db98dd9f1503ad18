import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { BerthClient, type HeldLease } from "../src/client/berth-client.ts";
import { berthPath, Process, TestServer } from "./cli-processes.ts";

const pools = {
  account: { members: { "acc-1": { labels: { region: "eu" } }, "acc-2": null }, lockDelay: "0s" },
  dirty: { members: ["dirt-1"], onRelease: "dirty", lockDelay: "0s" },
  empty: { count: 0 },
};
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(pools);
});
afterAll(() => server[Symbol.asyncDispose]());
/** What a test has left behind is not the next one's concern. */
afterEach(async () => {
  const client = new BerthClient({ url: server.url });
  await server.endCommands();
  for (const { id } of await client.everyLease()) {
    await client.revoke(id, { reason: "the test is over", by: "test", gone: true });
  }
  for (const { name } of await client.everyResource()) {
    await client.changeResource(name, { drained: false, state: "free" });
  }
});

/** A lease taken on the command line, with what is needed to give it back. */
async function acquired(...args: string[]): Promise<HeldLease> {
  const { stdout } = await server.done(["acquire", "--holder", "test/1", ...args]);
  return JSON.parse(stdout);
}
const proof = ({ id, token }: { id: string; token: string }) => ({
  BERTH_LEASE_ID: id,
  BERTH_TOKEN: token,
});

describe("berth acquire", () => {
  test("prints the lease, which heartbeat and release find in the environment", async () => {
    const lease = await acquired("--pool", "account", "--ttl", "7m", "--label", "team=x");
    expect(lease).toMatchObject({ holder: "test/1", ttl: "7m", labels: { team: "x" } });
    const beat = await server.done(["heartbeat"], proof(lease));
    expect(beat.stdout).toMatch(
      new RegExp(`^${lease.id} expires in \\S+ \\((\\S+ )?\\d\\d:\\d\\d\\)\n$`),
    );
    const release = await server.done(["release"], proof(lease));
    expect(release).toMatchObject({ code: 0, stdout: "", stderr: `Released ${lease.id}\n` });
    expect((await server.done(["heartbeat"], proof(lease))).code).toBe(76);
    expect((await server.done(["release"], proof(lease))).code).toBe(0);
  });

  test("-o env is fit for eval in a shell", async () => {
    const script = `eval "$(${berthPath} acquire --pool account:2 -o env)"
      echo "$BERTH_RESOURCE_ACCOUNT"; ${berthPath} release`;
    const shell = new Process("bash", ["-euc", script], {
      ...process.env,
      BERTH_URL: server.url,
    });
    expect(await shell.ended).toBe(0);
    expect(shell.stdout.trim().split(" ").sort()).toEqual(["acc-1", "acc-2"]);
  });

  test("returns one lease for two requests with the same id", async () => {
    const args = ["--pool", "account", "--request-id", "build/17"];
    const [first, second] = [await acquired(...args), await acquired(...args)];
    expect([second.id, second.token]).toEqual([first.id, first.token]);
    await server.done(["release"], proof(first));
    const third = await server.done(["acquire", "--holder", "test/1", ...args]);
    expect(third.code).toBe(66);
    expect(third.stderr).toContain("Send a new request, with a new --request-id");
  });

  test("releases the lease if it cannot be printed", async () => {
    const script = `${berthPath} acquire --pool account > /dev/full`;
    const shell = new Process("bash", ["-c", script], { ...process.env, BERTH_URL: server.url });
    expect(await shell.ended).toBe(1);
    expect(shell.stderr).toContain("Cannot print the lease: ");
    expect(await server.json("leases")).toEqual([]);
  });

  test("--timeout 0 does not wait", async () => {
    const lease = await acquired("--pool", "account:2");
    const second = await server.done(["acquire", "--pool", "account", "--timeout", "0"]);
    expect(second.code).toBe(75);
    expect(second.stderr).toContain("Wait longer with --timeout; see who holds what: berth leases");
    const both = await server.done(["acquire", "--pool", "account:2", "--timeout", "0"]);
    expect(both.stderr).toContain("Wait longer with --timeout, or request less");
    await server.done(["release"], proof(lease));
  });
});

describe("berth release", () => {
  test("releases one claim of a lease, and sets the state of its resource", async () => {
    const lease = await acquired("--pool", "account:2");
    const { id = "", resource = "" } = lease.claims[0] ?? {};
    const args = ["release", "--claim", id, "--state", "quarantined"];
    expect((await server.done(args, proof(lease))).code).toBe(0);
    expect(await server.json("resources", resource)).toMatchObject([{ state: "quarantined" }]);
    expect((await server.done(["free", resource])).stdout).toBe(`${resource} free\n`);
    await server.done(["release"], proof(lease));
  });

  test("takes id and token from a lease file", async () => {
    const lease = await acquired("--pool", "account");
    const file = join(server.folder, "lease.json");
    await writeFile(file, JSON.stringify(lease));
    expect((await server.done(["release", "--file", file])).code).toBe(0);
  });

  test("refuses a token that belongs to another lease, and never prints one", async () => {
    const [one, two] = [await acquired("--pool", "account"), await acquired("--pool", "account")];
    const wrong = await server.done(["release", one.id, "--token", two.token]);
    expect(wrong.code).toBe(77);
    expect(wrong.all).not.toContain(two.token);
    const ended = await server.done(["release", one.id, two.id, "--force"]);
    expect(ended.code).toBe(64);
    for (const { id } of [one, two]) {
      expect(
        (await server.done(["release", id, "--force", "--gone", "--reason", "test"])).code,
      ).toBe(0);
    }
  });
});

describe("berth's listings", () => {
  test("print a table, a wide table, JSON, YAML and names", async () => {
    const lease = await acquired("--pool", "account");
    const table = await server.done(["leases"]);
    expect(table.stdout).toMatch(/^ID {2,}HOLDER {2,}RESOURCES {2,}AGE {2,}EXPIRES IN\n/);
    expect(table.stdout).toMatch(
      new RegExp(`\n${lease.id} +test/1 +acc-\\d +\\d+s +(5m|4m\\d+s)\n$`),
    );
    const wide = await server.done(["leases", "-o", "wide", "--no-headers"]);
    expect(wide.stdout.split("\n")).toHaveLength(2);
    expect((await server.done(["leases", "-o", "name"])).stdout).toBe(`${lease.id}\n`);
    const yaml = parse((await server.done(["leases", "-o", "yaml"])).stdout);
    expect(yaml).toMatchObject([{ id: lease.id }]);
    expect(JSON.stringify(await server.json("leases"))).not.toContain(lease.token);
    await server.done(["release"], proof(lease));
  });

  test("mark a lease that its holder does not know yet", async () => {
    await using server = await TestServer.start(
      { account: { members: ["acc-1"] } },
      "--boskos-wait",
      "0",
    );
    const boskos = async (line: string) => {
      const answer = await fetch(`${server.url}${line}`, { method: "POST" });
      await answer.text();
      return answer.status;
    };
    const acquire = "/acquire?type=account&state=free&dest=busy&request_id=1";
    expect(await boskos(`${acquire}&owner=first`)).toBe(200);
    expect(await boskos(`${acquire}&owner=next`)).toBe(404);
    expect(await boskos("/release?name=acc-1&owner=first&dest=free")).toBe(200);
    const { stdout } = await server.done(["leases"]);
    expect(stdout).toMatch(/ next \(granted, not delivered\) +acc-1 /);
    expect(await boskos(`${acquire}&owner=next`)).toBe(200);
    expect((await server.done(["leases"])).stdout).toMatch(/ next +acc-1 /);
  });

  test("report an empty list on stderr, with a hint", async () => {
    const none = await server.done(["leases"]);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toBe("No lease to show. Request one: berth run --pool POOL -- CMD\n");
    expect((await server.done(["queue", "-o", "json"])).stdout).toBe("[]\n");
  });

  test("do not show an empty list for a pool that is misspelt", async () => {
    const misspelt = await server.done(["leases", "--pool", "acount"]);
    expect(misspelt.code).toBe(66);
    expect(misspelt.stderr).toContain('Did you mean "account"?');
  });

  test("exit without an error when the reader closes the pipe", async () => {
    const script = `set -o pipefail; ${berthPath} resources | head -1`;
    const shell = new Process("bash", ["-c", script], { ...process.env, BERTH_URL: server.url });
    expect(await shell.ended).toBe(0);
    expect(shell.stderr).toBe("");
  });

  test("--watch prints the list after each change, and exits on Ctrl-C", async () => {
    const watching = server.berth(["leases", "--watch", "-o", "name"]);
    await watching.says(/No lease to show/);
    const lease = await acquired("--pool", "account");
    await watching.says(new RegExp(lease.id));
    await server.done(["release"], proof(lease));
    await watching.says(new RegExp(`${lease.id}[^]*No lease to show`));
    watching.signal("SIGINT");
    expect(await watching.ended).toBe(130);
  });
});

describe("berth for operators", () => {
  test("drains and undrains by name and by pool", async () => {
    const drained = await server.done(["drain", "acc-1", "--reason", "bad disk"]);
    expect(drained.stdout).toBe("acc-1 drained\n");
    expect((await server.done(["drain", "--pool", "account"])).stdout).toBe("acc-2 drained\n");
    expect((await server.done(["status"])).stdout).toMatch(/account +▒{12} +0\/2 +0 +2 +0/);
    const undrained = await server.done(["undrain", "--pool", "account", "-o", "name"]);
    expect(undrained.stdout).toBe("acc-1\nacc-2\n");
  });

  test("changes nothing when one of several names is wrong", async () => {
    for (const verb of ["drain", "undrain", "free"]) {
      const pool = await server.done([verb, "account"]);
      expect(pool.code).toBe(64);
      expect(pool.stderr).toBe(
        `berth: Cannot ${verb} "account": it is a pool, not a resource\n` +
          `  For all resources of the pool: berth ${verb} --pool account\n`,
      );
    }
    const wrong = await server.done(["drain", "acc-1", "acc-3"]);
    expect(wrong.code).toBe(66);
    expect(await server.json("resources", "acc-1")).toMatchObject([{ drained: false }]);
  });

  test("explains who is ahead and who holds what", async () => {
    const lease = await acquired("--pool", "account:2");
    const waits = server.berth(["acquire", "--pool", "account", "--holder", "ci/waits"]);
    await waits.says(/position 1/);
    const [id = ""] = (await server.done(["queue", "-o", "name"])).stdout.split("\n");
    const { stdout } = await server.done(["explain", id]);
    expect(stdout).toMatch(/^ci\/waits has waited \ds for account\.\nIt is at place 1/);
    expect(stdout).toContain("account: needs 1, 0 of 2 free (busy=2)");
    expect(stdout).toMatch(new RegExp(`test/1 +${lease.id} +acc-1`));
    await server.done(["release"], proof(lease));
    await waits.ended;
    await server.done(["release"], proof(JSON.parse(waits.stdout)));
    const ended = await server.done(["explain", id]);
    expect(ended.code).toBe(66);
    expect(ended.stderr).toMatch(
      /Cannot explain \w+: it ended \d+s ago \(released\)\n .*berth history/,
    );
  });

  test("streams events", async () => {
    const events = server.berth(["events", "--after", "0", "-o", "json"]);
    const [line] = await events.says(/^.*"lease-granted".*$/m);
    expect(JSON.parse(line)).toMatchObject({ type: "lease-granted", seq: expect.any(Number) });
    events.signal("SIGTERM");
    expect(await events.ended).toBe(143);
  });

  test("checks a configuration, and prints its schema", async () => {
    const good = await server.done(["config", "check", join(server.folder, "berth.yaml")]);
    expect(good).toMatchObject({ code: 0 });
    expect(good.stdout).toContain("is good: 3 pools, 3 resources");
    const file = join(server.folder, "bad.yaml");
    await writeFile(file, "pools: { a: { cuont: 1 } }\n");
    const bad = await server.done(["config", "check", file]);
    expect(bad).toMatchObject({ code: 78, stdout: "" });
    expect(bad.stderr).toContain("bad.yaml:1:");
    const schema = await server.done(["config", "schema"]);
    expect(JSON.parse(schema.stdout)).toHaveProperty("properties.pools");
  });
});

describe("berth refuses wrong usage with exit code 64:", () => {
  const wrong: Record<string, { args: string[]; env?: NodeJS.ProcessEnv; says: string }> = {
    "an unknown command": {
      args: ["leasse"],
      says: 'Cannot run "leasse": berth has no such command\n  Did you mean leases?',
    },
    "an unknown option": {
      args: ["run", "--polo", "x", "--", "true"],
      says: "Cannot use --polo: berth run has no such option\n  Did you mean --pool?",
    },
    "an unknown command below another": {
      args: ["config", "chek"],
      says: 'Cannot run "chek": berth config has no such command\n  Did you mean check?',
    },
    "a pool without --pool": {
      args: ["acquire", "gpu"],
      says: 'Cannot run berth acquire: the argument "gpu" is not allowed\n  Did you mean --pool gpu?',
    },
    "a missing argument": { args: ["explain"], says: "Cannot run berth explain: <id> is missing" },
    "a missing value": { args: ["pools", "-o"], says: "its value is missing" },
    "an unknown format": {
      args: ["pools", "-o", "xml"],
      says: 'Cannot use --output "xml": it is not a valid choice\n  Use table, wide, json, yaml, name',
    },
    "a bare number as a duration": {
      args: ["acquire", "--pool", "account", "--ttl", "300"],
      says: 'Cannot use --ttl "300": it is not a duration\n  Write it like 90s, 20m, 1h30m or 2d',
    },
    "a ttl that is too short": {
      args: ["acquire", "--pool", "account", "--ttl", "1ms"],
      says: 'Cannot use --ttl "1ms": it is too short\n  Use 1s or more',
    },
    "a pool with a bad count": {
      args: ["acquire", "--pool", "account:x"],
      says: 'Cannot use --pool "account:x": it is not POOL or POOL:COUNT',
    },
    "no pool": { args: ["run", "--", "true"], says: "Cannot run: no pool is given" },
    "no command": { args: ["run", "--pool", "account"], says: "Cannot run: no command is given" },
    "a bad variable": {
      args: ["pools"],
      env: { BERTH_URL: "localhost:8080" },
      says: 'Cannot use BERTH_URL "localhost:8080": it is not an http(s) address',
    },
    "no lease": { args: ["release"], says: "Cannot release: no lease is given" },
    "force without a reason": {
      args: ["release", "x", "--force"],
      says: "the reason is missing",
    },
  };
  test.each(Object.entries(wrong))("%s", async (_, { args, env, says }) => {
    const refused = await server.inProcess(args, env); // Also `run`, because nothing is started.
    expect(refused.stderr).toContain(`berth: Cannot `);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
  });

  test("a password in the address, without repeating it", async () => {
    const refused = await server.done(["pools"], { BERTH_URL: "http://me:hunter2@host" });
    expect(refused.code).toBe(64);
    expect(refused.stderr).not.toContain("hunter2");
  });
});

describe("berth suggests names, with exit code 66, for", () => {
  const unknown: Record<string, { args: string[]; says: string }> = {
    "a resource that is misspelt": {
      args: ["resources", "acc1"],
      says: 'Cannot find resource "acc1"\n  Did you mean "acc-1"?',
    },
    "a resource without a similar name": {
      args: ["drain", "acc-1", "something-else"],
      says: 'Cannot find resource "something-else"\n  List them: berth resources\n',
    },
    "a pool that is misspelt": {
      args: ["pools", "acount"],
      says: 'Cannot find pool "acount"\n  Did you mean "account"?',
    },
    "a pool without a similar name": {
      args: ["pools", "something-else"],
      says: 'Cannot find pool "something-else"\n  Use account, dirty, empty\n',
    },
    "a lease": {
      args: ["leases", "nobody"],
      says: 'Cannot find lease "nobody"\n  List leases: berth leases\n',
    },
    "a request": {
      args: ["explain", "nobody"],
      says: 'Cannot find request "nobody"\n  List waiting requests: berth queue\n',
    },
  };
  test.each(Object.entries(unknown))("%s", async (_, { args, says }) => {
    const refused = await server.done(args);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ code: 66, stdout: "" });
  });
});

describe("bin/berth", () => {
  test("runs through symlinks, from any folder, and prints help and version", async () => {
    const folder = join(server.folder, "some where");
    await mkdir(folder);
    await symlink(berthPath, join(folder, "one"));
    await symlink("./one", join(folder, "two"));
    const { stdout } = await promisify(execFile)("./two", ["--version"], { cwd: folder });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await server.done(["run", "--help"]);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain(
      "76           the lease was lost; CMD was stopped, or never started",
    );
  });
});

describe("berth completion bash", () => {
  /** What bash itself offers for a line, through the script that we print. */
  async function offered(line: string): Promise<string[]> {
    const words = line.split(" ");
    const script = `PATH="${join(berthPath, "..")}:$PATH"; source <(berth completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
      _berth; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const shell = new Process("bash", ["-c", script], { ...process.env, BERTH_URL: server.url });
    expect(await shell.ended).toBe(0);
    return shell.stdout.trim().split("\n");
  }

  const lines: Record<string, { line: string; want: string[] }> = {
    commands: { line: "berth re", want: ["release", "refresh", "resources", "restore"] },
    subcommands: { line: "berth config ", want: ["check", "schema"] },
    options: { line: "berth release --to", want: ["--token", "--token-file"] },
    "pools by name": { line: "berth run --pool ", want: ["account", "dirty", "empty"] },
    "pools after =": { line: "berth run --pool = acc", want: ["account"] },
    formats: { line: "berth pools -o j", want: ["json"] },
    "resources by name": { line: "berth drain acc", want: ["acc-1", "acc-2"] },
    shells: { line: "berth completion ", want: ["bash", "zsh", "fish"] },
    "nothing after --": { line: "berth run --pool account -- ma", want: [""] },
  };
  test.each(Object.entries(lines))("offers %s", async (_, { line, want }) => {
    expect(await offered(line)).toEqual(want);
  });

  test("offers and prints nothing when the server is unreachable", async () => {
    const away = { BERTH_URL: "http://127.0.0.1:9" };
    const asked = await server.done(["__complete", "--", "run", "--pool", ""], away);
    expect(asked).toMatchObject({ code: 0, all: "" });
  });

  test.each(["zsh", "fish"])("has a script for %s as well", async (shell) => {
    const { stdout } = await server.done(["completion", shell]);
    expect(stdout).toContain("berth __complete --");
  });
});
