/** What is special about `/client.sh`; what it shares with the other clients is in `clients/vectors`. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { pause } from "../src/client/pause.ts";
import { berthPath, finished, Process, TestServer } from "./cli-processes.ts";

const script = fileURLToPath(new URL("../clients/shell/client.sh", import.meta.url));
const shells = ["dash", "bash", "busybox ash"];

let server: TestServer;
let client: BerthClient;
beforeAll(async () => {
  const one = { count: 1, ttl: "1m" };
  server = await TestServer.start({
    ...{ one, two: one, killed: { ...one, ttl: "2s" }, stopped: one, piped: one, steps: one },
    ...{ same: one, bare: one, stdin: one, quiet: one, signalled: one, "a.b": one, "a-b": one },
  });
  client = new BerthClient({ url: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const clean = { PATH: process.env["PATH"], HOME: "/nonexistent" };

function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  shell = "sh",
  file = script,
): Process {
  const [name = "sh", ...own] = shell.split(" ");
  const all = { ...clean, BERTH_URL: server.url, TMPDIR: server.folder, ...env };
  return new Process(name, [...own, file, ...args], all);
}

const done = (args: readonly string[], env?: NodeJS.ProcessEnv) => finished(start(args, env));

async function leasesOf(pool: string) {
  return (await client.leases({ pool })).items;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(50);
}

test("runs from a pipe, and knows the server that it came from", async () => {
  const line = `curl -fsS ${server.url}/client.sh | sh -s -- run --pool piped -- sh -c 'echo "$BERTH_RESOURCE_PIPED"; exit 3'`;
  const piped = await finished(new Process("sh", ["-c", line], clean));
  expect([piped.code, piped.stdout], piped.all).toEqual([3, "piped-1\n"]);
  expect(await leasesOf("piped")).toEqual([]);
});

test("a script that was cut short does nothing", async () => {
  const whole = await readFile(script, "utf8");
  for (const part of [0.3, 0.6, 0.999]) {
    const cut = new Process("sh", ["-s", "--", "run", "--pool", "one", "--", "false"], clean);
    cut.type(whole.slice(0, whole.length * part));
    cut.child.stdin?.end();
    await cut.ended;
    expect(cut.all, `${part}`).not.toContain("Acquiring");
  }
});

describe.each(shells)("in %s", (shell) => {
  test("killed with -9, it leaves a lease that expires, and no process and no file", async () => {
    const args = ["run", "--pool", "killed", "--", "sh", "-c", "echo working; exec sleep 20"];
    const folder = join(server.folder, shell.replace(" ", "-"));
    await mkdir(folder, { recursive: true });
    const run = start(args, { TMPDIR: folder }, shell);
    await run.says(/working/);
    expect(await readdir(folder)).toHaveLength(1);
    const [lease] = await leasesOf("killed");
    const { pid } = run.child;
    run.signal("SIGKILL");
    await until(async () => (await readdir(folder)).length === 0);
    await until(async () => (await leasesOf("killed")).length === 0);
    const { items } = await client.history({ id: lease?.id });
    expect(items[0]).toMatchObject({ how: "expired" });
    // Its command is not stopped, as with `berth run`. Nothing else is left of it.
    const left = execFileSync("ps", ["-axo", "pid,ppid,args"], { encoding: "utf8" });
    expect(left.split("\n").filter((line) => line.includes(folder))).toEqual([]);
    expect(left).not.toMatch(new RegExp(`^ *\\d+ +${pid} `, "m"));
  });

  test("passes a signal to the command, and its exit code back", async () => {
    const work = "trap 'echo caught; exit 9' TERM; echo working; while :; do sleep 0.1; done";
    const run = start(["run", "--pool", "signalled", "--", "sh", "-c", work], {}, shell);
    await run.says(/working/);
    run.signal("SIGTERM");
    expect(await run.ended, run.all).toBe(9);
    expect(run.stdout).toBe("working\ncaught\n");
    expect(await leasesOf("signalled")).toEqual([]);
  });

  test("ends with 130 after Ctrl-C, which also ends the processes of the command", async () => {
    const work = "sh -c 'echo working; exec sleep 30'; exit 3";
    const args = ["run", "--pool", "stopped", "--", "sh", "-c", work];
    const run = start(args, {}, shell);
    await run.says(/working/);
    run.signal("SIGINT");
    expect(await run.ended, run.all).toBe(130);
    expect(await leasesOf("stopped")).toEqual([]);
  });

  test("ends with 130 also if Ctrl-C comes before the script has noted its command", async () => {
    const slow = await slower("note", shell, "started_pid=$!");
    const args = ["run", "--pool", "stopped", "--", "sh", "-c", "echo working; exec sleep 30"];
    const run = start(args, {}, shell, slow);
    await run.says(/working/);
    run.signal("SIGINT");
    expect(await run.ended, run.all).toBe(130);
    expect(await leasesOf("stopped")).toEqual([]);
  });

  test.each([9, 127, 0])(
    "passes exit code %i back, also if the command ends while the script handles the signal",
    async (code) => {
      const slow = await slower(`wait-${code}`, shell, "exit_code=$?\n        # A signal");
      const work = `trap 'exit ${code}' TERM; echo working; while :; do sleep 0.1; done`;
      const run = start(["run", "--pool", "signalled", "--", "sh", "-c", work], {}, shell, slow);
      await run.says(/working/);
      run.signal("SIGTERM");
      expect(await run.ended, run.all).toBe(code);
    },
  );

  test("passes the exit code back, although a signal comes after the command has ended", async () => {
    const slow = await slower("late", shell, "exit_code=$?\n        # A signal");
    const args = ["run", "--pool", "signalled", "--", "sh", "-c", "exit 5"];
    const run = start(args, {}, shell, slow);
    await run.says(/here is a pause/);
    run.signal("SIGTERM");
    expect(await run.ended, run.all).toBe(5);
  });
});

/** A copy of the script that waits a second after one of its lines, so that a race always ends the same way. */
async function slower(name: string, shell: string, line: string): Promise<string> {
  const file = join(server.folder, `slow-${name}-${shell.replace(" ", "-")}.sh`);
  const text = await readFile(script, "utf8");
  expect(text.split(line)).toHaveLength(2);
  const [first = ""] = line.split("\n");
  await writeFile(
    file,
    text.replace(line, () =>
      line.replace(first, () => `${first}; echo here is a pause >&2; sleep 1`),
    ),
  );
  return file;
}

test("gives the command the variables that berth run gives, and the same lease file", async () => {
  const show = `env | grep BERTH_ | sed 's/=.*//' | sort; cat "$BERTH_LEASE_FILE"; stat -c %a "$BERTH_LEASE_FILE"`;
  const args = ["run", "--pool", "same", "--pool", "two", "--", "sh", "-c", show];
  const read = ({ stdout }: { stdout: string }) => {
    const [, names = "", json = "", mode = ""] =
      /^([\s\S]*?)(\{[\s\S]*\})\n(\d+)\n$/.exec(stdout) ?? [];
    return { names, keys: Object.keys(JSON.parse(json) as object).sort(), mode };
  };
  const ours = await done(args);
  const berth = await finished(server.berth(args));
  expect(read(ours)).toEqual(read(berth));
  expect(read(ours).names).toContain("BERTH_RESOURCE_SAME\nBERTH_RESOURCE_TWO\n");
});

test("the command reads the standard input of the script", async () => {
  const run = start(["run", "--pool", "stdin", "--", "cat"]);
  run.type("for the command\n");
  run.child.stdin?.end();
  expect([await run.ended, run.stdout]).toEqual([0, "for the command\n"]);
  expect(run.stderr.split("\n")).toEqual([
    "Acquiring leases for test cat: [stdin]",
    "Acquired 1 lease(s) for stdin: [stdin-1]",
    "Releasing leases for test cat: [stdin-1]",
    "",
  ]);
});

test.each(shells)("%s: runs without a standard input", async (shell) => {
  const line = `exec ${shell} ${script} run --pool stdin -- sh -c 'cat; exit 6' <&-`;
  const run = new Process("bash", ["-c", line], { ...clean, BERTH_URL: server.url });
  expect(await run.ended, run.all).toBe(6);
});

test("runs with nothing but busybox and curl, and an empty environment", async () => {
  const bin = join(server.folder, "bin");
  await mkdir(bin);
  const busybox = execFileSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).trim();
  execFileSync(busybox, ["--install", "-s", bin]);
  const curl = execFileSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).trim();
  await symlink(curl, join(bin, "curl"));
  const line = `curl -fsS ${server.url}/client.sh | sh -s -- run --pool bare -- sh -c 'echo $BERTH_RESOURCE_BARE; exit 4'`;
  const bare = await finished(new Process(join(bin, "sh"), ["-c", line], { PATH: bin }));
  expect([bare.code, bare.stdout], bare.all).toEqual([4, "bare-1\n"]);
});

test("shows no token in a command line", async () => {
  const seen: string[] = [];
  const run = start(["run", "--pool", "quiet", "--", "sh", "-c", "echo working; sleep 1"], {
    BERTH_TOKEN: "a-token-of-the-caller",
  });
  const look = () => seen.push(execFileSync("ps", ["-axwwo", "args"], { encoding: "utf8" }));
  const [lease] = await (async () => {
    await run.says(/working/);
    look();
    return leasesOf("quiet");
  })();
  while (run.child.exitCode === null) {
    look();
    await pause(30);
  }
  expect(lease).toBeDefined();
  expect(seen.join("")).toContain("curl -q");
  expect(seen.join("")).not.toContain("a-token-of-the-caller");
  expect(seen.join("")).not.toMatch(/Bearer/);
});

test("acquire, heartbeat, status and release are single steps", async () => {
  const env = await done(["acquire", "--pool", "steps", "-o", "env"]);
  const [, id = ""] = /BERTH_LEASE_ID='(.*?)'/.exec(env.stdout) ?? [];
  const [, token = ""] = /BERTH_LEASE_TOKEN='(.*?)'/.exec(env.stdout) ?? [];
  expect(env.stdout).toContain("BERTH_RESOURCE_STEPS='steps-1'");
  const held = { BERTH_LEASE_TOKEN: token };
  expect((await done(["heartbeat", id], held)).stdout).toMatch(new RegExp(`^${id} expires at 20`));
  const { stdout } = await done(["status"]);
  expect(stdout).toMatch(/^POOL +TOTAL +FREE +HELD +WAITING$/m);
  expect(stdout).toMatch(/^steps +1 +0 +1 +0$/m);
  expect(await done(["release", id, "--state", "dirty"], held)).toMatchObject({ code: 0 });
  expect((await client.resource("steps-1")).state).toBe("dirty");
  expect((await done(["heartbeat", id], held)).code).toBe(exitCodes.leaseLost);
  expect((await done(["release", id], held)).code).toBe(0);
});

test("acquire prints the lease as JSON or its id, and releases what it could not print", async () => {
  const json = await done(["acquire", "--pool", "one"]);
  const lease = JSON.parse(json.stdout) as { id: string; token: string };
  expect(lease).toMatchObject({ url: server.url, claims: [{ resource: "one-1" }] });
  await client.release(lease);
  const line = `sh ${script} acquire --pool one -o name >/dev/full`;
  const full = new Process("sh", ["-c", line], { ...clean, BERTH_URL: server.url });
  expect(await full.ended).not.toBe(0);
  expect(await leasesOf("one")).toEqual([]);
});

test.each([
  ["run --pool one", 64, "no command is given"],
  ["run -- true", 64, "no pool is given"],
  ["run --pool one --ttl 300 -- true", 64, 'Cannot use --ttl "300": it is not a duration'],
  ["run --pool one:0 -- true", 64, "its count is out of range"],
  ["run --pool one:x -- true", 64, "it is not POOL or POOL:COUNT"],
  ["run --pool a.b --pool a-b -- true", 64, "both would set BERTH_RESOURCE_A_B"],
  ["run --pool one --pool two --amount vcpus=1 -- true", 64, "several pools"],
  ["run --pool one --label =x -- true", 64, "it is not KEY=VALUE"],
  ["run --pool one --proxy x -- true", 64, "there is no such option"],
  ["run --pool one --server localhost:1 -- true", 64, "it is not an http(s) address"],
  ["run --pool one -- no-such-command", 127, "command not found"],
  ["run --pool one -- /etc/passwd", 126, "it is not executable"],
  ["frobnicate", 64, "there is no such command"],
  ["heartbeat", 64, "no lease is given"],
  ["heartbeat ../x", 64, "it is not the id of a lease"],
  ["run --pool one --token-file /nonexistent -- true", 64, "it cannot be read"],
])("%s exits with %i: %s", async (line, code, message) => {
  const ended = await done(line.split(" "));
  expect([ended.code, ended.stdout], ended.all).toEqual([code, ""]);
  expect(ended.stderr).toContain(message);
});

test("--fail-open runs the command without a lease, --fail-open-always also if it is refused", async () => {
  const down = { BERTH_URL: "http://127.0.0.1:9" };
  const show = ["--", "sh", "-c", 'echo "$BERTH_FAIL_OPEN"; exit 5'];
  const open = ["run", "--pool", "one", "--connect-timeout", "0", "--fail-open"];
  const run = await done([...open, ...show], down);
  expect([run.code, run.stdout]).toEqual([5, "true\n"]);
  expect(run.stderr).toContain("RUNNING WITHOUT A LEASE (--fail-open)");
  expect((await done(["run", "--pool", "nope", "--fail-open", ...show])).code).toBe(66);
  expect((await done(["run", "--pool", "nope", "--fail-open-always", ...show])).code).toBe(5);
});

describe("a server that lies", () => {
  const granted: Readonly<Record<string, string>> = {
    ...{ id: "abc", token: "tok", ttl: "1m", grantedAt: "2026-01-01T00:00:00Z" },
    ...{ "claims.0.id": "c1", "claims.0.pool": "p", "claims.0.resource": "r" },
  };
  // bash runs what stands in the index of an array when it calculates. Spaces are not needed.
  const touch = "touch$IFS$TMPDIR/ran";
  const command = `status[$(${touch})]`;

  async function lie(status: number, lies: Readonly<Record<string, string>>) {
    const lines = Object.entries({ ...granted, ...lies }).map(
      ([name, value]) => `${name}=${value}\n`,
    );
    const liar = createServer((_, reply) => reply.writeHead(status).end(lines.join("")));
    await once(liar.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void liar.close());
    const TMPDIR = await mkdtemp(join(server.folder, "lie-"));
    const BERTH_URL = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    return { TMPDIR, BERTH_URL };
  }

  test.each<[string, number, Readonly<Record<string, string>>]>([
    ["end", 200, { endsAt: `2026-01-01T00:00:00+${command}Z` }],
    ["fraction of a second", 200, { endsAt: `2026-01-01T00:00:00.1+${command}Z` }],
    ["wait", 202, { waitedSeconds: command }],
    ["estimate", 202, { waitedSeconds: "1", etaSeconds: `1+${command}` }],
    ["fence", 200, { "claims.0.fence": `';${touch};'` }],
    ["resource", 200, { "claims.0.resource": `';${touch};'` }],
  ])("runs nothing by its %s", async (_, status, lies) => {
    const env = await lie(status, lies);
    const args = ["acquire", "--pool", "p", "--timeout", "0s", "-o", "env"];
    const { stdout } = await finished(start(args, env, "bash"));
    await finished(new Process("bash", ["-c", stdout], { ...clean, ...env }));
    expect(await readdir(env.TMPDIR)).toEqual([]);
  });

  test("cannot send commands to a terminal", async () => {
    const lies = { detail: "No\u001b]0;title\u0007 more", code: "bad", hint: "\u001b[2Jhint" };
    const { stderr } = await done(
      ["ask", "--pool", "p", "--request-id", "r"],
      await lie(400, lies),
    );
    expect(stderr).toBe("berth: No]0;title more\n  [2Jhint\n");
  });
});

test("--help has the exit codes of berth run", async () => {
  const { stdout, code } = await done(["--help"]);
  expect(code).toBe(0);
  const berth = execFileSync(berthPath, ["run", "--help"], { encoding: "utf8" });
  for (const [, line] of stdout.matchAll(/^ {2}((?:6[69]|7[5-7]) .*)$/gm)) {
    const [number = ""] = line?.split(" ") ?? [];
    expect(berth).toMatch(new RegExp(`^ +${number} `, "m"));
  }
});
