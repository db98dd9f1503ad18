import { expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const pools = { account: { members: ["acc-1"], lockDelay: "0s" } };
const untilTerm = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done";

test("berth run keeps its lease over a restart of the server", async () => {
  await using server = await TestServer.start(pools);
  const args = ["run", "--pool", "account", "--ttl", "30s", "--grace", "1s"];
  const run = server.berth([...args, "--", "bash", "-c", untilTerm]);
  await run.says(/ready/);
  await server.stop("SIGKILL");
  await run.says(/Cannot reach the server at \S+: connection refused; retrying/);
  await server.start();
  await run.says(/Heartbeats work again/);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(3);
  expect(run.stderr).toContain("Releasing leases");
  expect(await server.json("leases")).toEqual([]);
});

test("berth run keeps its queue position over a restart of the server", async () => {
  await using server = await TestServer.start(pools);
  const holder = server.berth(["run", "--pool", "account", "--", "bash", "-c", untilTerm]);
  await holder.says(/ready/);
  const run = server.berth(["run", "--pool", "account", "--", "echo", "my turn"]);
  await run.says(/position 1/);
  await server.stop("SIGTERM");
  await run.says(/retrying/);
  await server.start();
  await run.says(/answers again/);
  holder.signal("SIGTERM");
  await holder.ended;
  expect(await run.ended).toBe(0);
  expect(run.stdout).toBe("my turn\n");
});

test("berth run sends a new request after a restart of a server without a disk", async () => {
  await using server = await TestServer.start(pools, "--memory");
  const first = server.berth(["run", "--pool", "account", "--ttl", "5s", "--", "sleep", "60"]);
  await first.says(/Acquired/);
  const second = server.berth(["run", "--pool", "account", "--", "echo", "my turn"]);
  await second.says(/position 1/);
  await server.stop("SIGKILL");
  await server.start();
  expect(await first.ended).toBe(76);
  expect(await second.ended).toBe(0);
});

test("berth run stops its command before the server may lend the resource again", async () => {
  await using server = await TestServer.start(pools);
  const args = ["run", "--pool", "account", "--ttl", "2s", "--grace", "500ms"];
  const run = server.berth([...args, "--", "bash", "-c", untilTerm]);
  await run.says(/ready/);
  await server.stop("SIGKILL");
  await run.says(/LEASE LOST\. .*no heartbeat succeeded for \ds of its ttl 2s; stopping bash/);
  // It does not try for long to release what is lost: it ends while the server is away.
  expect(await run.ended).toBe(76);
  expect(run.stderr).toMatch(/Cannot release lease .*connection refused/);
  expect(run.stderr).not.toContain("trying for");
});

test("berth run says how long a lease stays that it cannot release", async () => {
  await using server = await TestServer.start(pools);
  const args = ["run", "--pool", "account", "--ttl", "2m"];
  const run = server.berth([...args, "--", "bash", "-c", untilTerm]);
  await run.says(/ready/);
  await server.stop("SIGKILL");
  run.signal("SIGTERM");
  await run.says(/trying for 30s more/);
  run.signal("SIGTERM"); // It does not wait for that.
  expect(await run.ended).toBe(3);
  expect(run.stderr).toMatch(/It expires 2m after its last heartbeat, or after the server is back/);
});

test("berth run --fail-open continues when heartbeats fail", async () => {
  await using server = await TestServer.start(pools);
  const args = ["run", "--fail-open", "--pool", "account", "--ttl", "1s"];
  const run = server.berth([...args, "--", "bash", "-c", untilTerm]);
  await run.says(/ready/);
  await server.stop("SIGKILL");
  await run.says(/CONTINUING WITHOUT A LEASE/);
  run.signal("SIGTERM");
  await run.says(/Releasing/);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(3);
});

test("berth run --fail-open runs without a lease when the server is unreachable", async () => {
  await using server = await TestServer.start(pools);
  await server.stop();
  const args = [
    "--pool",
    "account",
    "--connect-timeout",
    "0",
    "--",
    "sh",
    "-c",
    "echo ran; exit 5",
  ];
  const open = await server.done(["run", "--fail-open", ...args]);
  expect(open.code).toBe(5);
  expect(open.stderr).toContain("RUNNING WITHOUT A LEASE");
  const closed = await server.done(["run", ...args]);
  expect(closed.code).toBe(69);
  expect(closed.stdout).toBe("");
  expect(closed.stderr).toContain("berth: Cannot reach the server at http://127.0.0.1:");
});

test("berth run --fail-open does not run when the server refuses the request", async () => {
  await using server = await TestServer.start(pools);
  const unknown = await server.done(["run", "--fail-open", "--pool", "acount", "--", "true"]);
  expect(unknown.code).toBe(66);
  expect(unknown.stderr).toContain('Cannot find pool "acount"\n  Did you mean "account"?');
  const many = await server.done(["run", "--fail-open", "--pool", "account:2", "--", "true"]);
  expect(many.code).toBe(77);
  expect(many.stderr).toContain("Cannot ever grant 2 of account: it has 1");
});

test.each([
  ["the pool does not exist", ["--pool", "acount"], 'Did you mean "account"?'],
  ["the pool has too few", ["--pool", "account:2"], "Cannot ever grant 2 of account: it has 1"],
  ["nothing is granted in time", ["--pool", "account", "--timeout", "0"], "within 0s"],
  ["the profile does not exist", ["--profile", "none"], 'Cannot find profile "none"'],
  [
    "the server is unreachable",
    ["--server", "http://127.0.0.1:9", "--connect-timeout", "0", "--pool", "account"],
    "Cannot reach the server",
  ],
])("berth run --fail-open-always runs its command if %s", async (_, ask, why) => {
  await using server = await TestServer.start(pools);
  const holder = server.berth(["run", "--pool", "account", "--", "sleep", "60"]);
  await holder.says(/Acquired/);
  const command = ["sh", "-c", "echo ran $BERTH_FAIL_OPEN; exit 5"];
  const run = await server.done(["run", "--fail-open-always", ...ask, "--", ...command]);
  expect(run).toMatchObject({ code: 5, stdout: "ran true\n" });
  expect(run.stderr).toContain(why);
  expect(run.stderr).toContain("RUNNING WITHOUT A LEASE (--fail-open-always)");
});

test("berth run --fail-open-always goes on when the server ends the lease", async () => {
  await using server = await TestServer.start(pools);
  const args = ["run", "--fail-open-always", "--pool", "account", "--ttl", "1s"];
  const run = server.berth([...args, "--", "bash", "-c", untilTerm]);
  await run.says(/ready/);
  const [{ id }] = (await server.json("leases")) as [{ id: string }];
  await server.done(["release", id, "--force", "--gone", "--reason", "test"]);
  await run.says(/CONTINUING WITHOUT A LEASE/);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(3);
});

test("berth run --fail-open-always stops for the user, and for a wrong command line", async () => {
  await using server = await TestServer.start(pools);
  const holder = server.berth(["run", "--pool", "account", "--", "sleep", "60"]);
  await holder.says(/Acquired/);
  const run = server.berth(["run", "--fail-open-always", "--pool", "account", "--", "echo", "ran"]);
  await run.says(/position 1/);
  run.signal("SIGTERM");
  expect(await run.ended).toBe(143);
  expect(run.stdout).toBe("");
  expect((await server.done(["run", "--fail-open-always", "--", "echo", "ran"])).code).toBe(64);
});
