import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const pools = {
  account: { members: ["acc-1", "acc-2"], lockDelay: "0s" },
  single: { members: ["only-1"], lockDelay: "0s" },
  other: { members: ["oth-1"], lockDelay: "0s" },
  "brief-life": { count: 1, lockDelay: "0s" },
};
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(pools);
});
afterAll(() => server[Symbol.asyncDispose]());

const seen = async (pool: string) =>
  ((await server.json("leases", "--pool", pool)) as { holder: string }[]).length;

describe("berth run", () => {
  test("acquires, sets the variables, releases, and exits with the code of the command", async () => {
    const script = 'echo "$BERTH_RESOURCE_ACCOUNT/$BERTH_URL"; cat "$BERTH_LEASE_FILE"; exit 7';
    const run = await server.done(["run", "--pool", "account:2", "--", "sh", "-c", script]);
    expect(run.code).toBe(7);
    const [first, ...file] = run.stdout.split("\n");
    expect(first).toBe(`acc-1 acc-2/${server.url}`);
    expect(JSON.parse(file.join("\n"))).toMatchObject({ token: expect.any(String) });
    expect(run.stderr.split("\n")).toEqual([
      "Acquiring leases for test sh: [account]",
      "Acquired 2 lease(s) for account: [acc-1 acc-2]",
      "Releasing leases for test sh: [acc-1 acc-2]",
      "",
    ]);
    expect(await seen("account")).toBe(0);
    const left = await readdir(server.folder);
    expect(left.filter((name) => /^berth-/.test(name))).toEqual([]);
  });

  test("runs a command without --, and passes its options on", async () => {
    const run = await server.done([
      "run",
      "--pool",
      "account",
      "--name",
      "t",
      "echo",
      "--pool",
      "-x",
    ]);
    expect(run.stdout).toBe("--pool -x\n");
    expect(run.stderr).toContain("Acquiring leases for test t: [account]");
  });

  test("runs the command in its own process group", async () => {
    const script = "ps -o pgid= -p $$; ps -o pid= -p $$";
    const run = await server.done(["run", "--pool", "account", "--", "sh", "-c", script]);
    const [group, pid] = run.stdout.trim().split(/\s+/);
    expect(group).toBe(pid);
  });

  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
  test.each(signals)("passes %s on once, and waits until the command exits", async (signal) => {
    const script = `trap 'echo got; sleep 0.2; echo cleared; exit 9' ${signal.slice(3)}
      echo ready; while :; do sleep 0.05; done`;
    const run = server.berth(["run", "--pool", "account", "--", "bash", "-c", script]);
    await run.says(/ready/);
    run.signal(signal);
    expect(await run.ended).toBe(9);
    expect(run.stdout).toBe("ready\ngot\ncleared\n");
    expect(run.stderr).toContain("Releasing leases");
  });

  test("exits with 128+N when signal N killed the command", async () => {
    const run = server.berth([
      "run",
      "--pool",
      "account",
      "--",
      "sh",
      "-c",
      "echo ready; sleep 60",
    ]);
    await run.says(/ready/);
    run.signal("SIGTERM");
    expect(await run.ended).toBe(143);
  });

  test("exits with 127 if the command does not exist, and requests nothing", async () => {
    const run = await server.done(["run", "--pool", "account", "--", "no-such-command"]);
    expect(run.code).toBe(127);
    expect(run.stderr).toBe(
      "berth: Cannot run no-such-command: command not found\n" +
        "  Check the name and PATH; the first line of a script must name an existing program\n",
    );
  });

  test("exits with 126 for a file that is not executable", async () => {
    const file = join(server.folder, "plain-file");
    await writeFile(file, "echo hello\n");
    const run = await server.done(["run", "--pool", "account", "--", file]);
    expect(run.code).toBe(126);
    expect(run.stderr).toContain("it is not executable");
  });

  test("releases and exits with 127 if the interpreter of a script is missing", async () => {
    const file = join(server.folder, "script");
    await writeFile(file, "#!/no/such/shell\n");
    await chmod(file, 0o755);
    const run = await server.done(["run", "--pool", "account", "--", file]);
    expect(run.code).toBe(127);
    expect(run.stderr).toContain("Releasing leases");
    expect(await seen("account")).toBe(0);
  });

  test("refuses two pools that would set one variable", async () => {
    const run = await server.done(["run", "--pool", "a-b", "--pool", "a.b", "--", "true"]);
    expect(run.code).toBe(64);
    expect(run.stderr).toContain(
      "Cannot request a-b and a.b together: both would set BERTH_RESOURCE_A_B",
    );
  });
});

describe("berth run, while it waits,", () => {
  const hold = async () => {
    const script = "echo holding; trap 'exit 0' TERM; while :; do sleep 0.05; done";
    const holder = server.berth([
      "run",
      "--pool",
      "single",
      "--holder",
      "first",
      "--",
      "sh",
      "-c",
      script,
    ]);
    await holder.says(/holding/);
    return holder;
  };

  test("shows its position, and starts the command once granted", async () => {
    const holder = await hold();
    const run = server.berth(["run", "--pool", "single", "--", "echo", "my turn"]);
    await run.says(/waiting \ds · position 1 · The only one of single is held; next in line/);
    holder.signal("SIGTERM");
    expect(await holder.ended).toBe(0);
    expect(await run.ended).toBe(0);
    expect(run.stdout).toBe("my turn\n");
  });

  test("leaves the queue and exits with 75 after --timeout", async () => {
    const holder = await hold();
    const run = await server.done(["run", "--pool", "single", "--timeout", "300ms", "--", "true"]);
    expect(run.code).toBe(75);
    expect(run.stderr).toMatch(
      /berth: Cannot get the lease: not granted within \ds \(position 1\)/,
    );
    expect(await server.json("queue")).toEqual([]);
    holder.signal("SIGTERM");
    await holder.ended;
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("leaves the queue on %s and exits %i", async (signal, code) => {
    const holder = await hold();
    const run = server.berth(["run", "--pool", "single", "--", "true"]);
    await run.says(/position 1/);
    run.signal(signal);
    expect(await run.ended).toBe(code);
    expect(await server.json("queue")).toEqual([]);
    holder.signal("SIGTERM");
    await holder.ended;
  });
});

describe("berth run, when its lease is lost,", () => {
  test("stops the command and its child processes, and exits with 76", async () => {
    const script = "trap 'echo stopping; exit 0' TERM; sleep 300 & echo child $!; wait";
    const args = [
      "run",
      "--pool",
      "other",
      "--ttl",
      "6s",
      "--grace",
      "2s",
      "--",
      "bash",
      "-c",
      script,
    ];
    const run = server.berth(args);
    const [, child] = await run.says(/child (\d+)/);
    const [lease] = (await server.json("leases", "--pool", "other")) as { id: string }[];
    await server.done(["release", lease?.id ?? "", "--force", "--reason", "maintenance"]);
    expect(await run.ended).toBe(76);
    expect(run.stdout).toContain("stopping");
    expect(run.stderr).toMatch(
      /LEASE LOST\. Cannot keep lease \S+: an operator ended it at \S+ \(.*: maintenance\)/,
    );
    expect(() => process.kill(Number(child), 0)).toThrow("ESRCH");
  });

  test("kills a command that ignores SIGTERM", async () => {
    const script = "trap '' TERM; echo ready; while :; do sleep 0.1; done";
    const args = [
      "run",
      "--pool",
      "other",
      "--ttl",
      "6s",
      "--grace",
      "200ms",
      "--",
      "bash",
      "-c",
      script,
    ];
    const run = server.berth(args);
    await run.says(/ready/);
    const [lease] = (await server.json("leases", "--pool", "other")) as { id: string }[];
    await server.done(["release", lease?.id ?? "", "--force", "--reason", "maintenance"]);
    expect(await run.ended).toBe(76);
  });

  test("learns at once that its lease was revoked, and frees the resource when it has stopped", async () => {
    const script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    const run = server.berth(["run", "--pool", "other", "--ttl", "1h", "--", "bash", "-c", script]);
    await run.says(/ready/);
    const [lease] = (await server.json("leases", "--pool", "other")) as { id: string }[];
    await server.done(["release", lease?.id ?? "", "--force", "--reason", "maintenance"]);
    expect(await run.ended).toBe(76);
    const next = await server.done(["run", "--pool", "other", "--", "true"]);
    expect(next.code).toBe(0);
  });

  test("exits 76 when the lease was revoked before the command exited by itself", async () => {
    const revoke = `curl -fsS -X DELETE "$BERTH_URL/v1/leases/$BERTH_LEASE_ID?force=true&reason=test"`;
    const run = await server.done(["run", "--pool", "other", "--", "bash", "-c", revoke]);
    expect(run.code).toBe(76);
    expect(run.stderr).toContain("LEASE LOST");
  });

  test("stops the command before the lifetime ends, so that it can clean up", async () => {
    const script =
      "trap 'berth=$BERTH_LEASE_ID; echo stopping; exit 0' TERM; while :; do sleep 0.05; done";
    const run = await server.done([
      ...["run", "--pool", "brief-life", "--lifetime", "4s", "--grace", "1s"],
      ...["--", "bash", "-c", script],
    ]);
    expect(run.code).toBe(76);
    expect(run.stdout).toBe("stopping\n");
    expect(run.stderr).toContain("it reaches its lifetime at");
    expect(run.stderr).toContain("Releasing leases");
  });
});
