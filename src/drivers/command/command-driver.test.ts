import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testDriver } from "../driver.suite.ts";
import { CommandDriver, type CommandSettings } from "./command-driver.ts";
import { ScriptedWorld, scriptedProgram } from "./scripted-world.suite.ts";

const common = { folder: "/", timeoutMs: 30_000, hibernates: true, credentials: {} };

testDriver("command", async () => {
  const world = await ScriptedWorld.open();
  const driver = new CommandDriver({
    ...common,
    command: [scriptedProgram],
    env: { WORLD: world.folder },
  });
  return Object.assign(world, { driver });
});

describe("a command driver", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-command-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** A driver whose program is this piece of shell. */
  async function program(script: string, more: Partial<CommandSettings> = {}) {
    const path = join(folder, "driver.sh");
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    return new CommandDriver({ ...common, folder, command: [path], env: {}, ...more });
  }
  const ref = { name: "berth-1", instance: "i-1", handle: { id: 7 } };
  const spec = {
    ...{ name: "berth-1", instance: "i-1", template: "t", revision: "r" },
    ...{ parameters: { version: "4.20" }, tags: { "berth-instance": "i-1" }, hub: "east" },
  };

  test("passes the verb, the request and the mapped variables, and nothing else", async () => {
    process.env["BERTH_TEST_SECRET_OF_SERVER"] = "hidden";
    const script = `echo "$@" > args; cat > request; env > env; pwd > pwd; echo '{"phase":"ready"}'`;
    const env = { REGION: "eu-1" };
    const driver = await program(script, { command: [join(folder, "driver.sh"), "--fast"], env });
    await driver.observe(ref);
    delete process.env["BERTH_TEST_SECRET_OF_SERVER"];
    const file = async (name: string) => (await readFile(join(folder, name), "utf8")).trim();
    expect(await file("args")).toBe("--fast observe");
    expect(JSON.parse(await file("request"))).toEqual(ref);
    expect(await file("pwd")).toBe(folder);
    expect(await file("env")).toContain("REGION=eu-1");
    expect(await file("env")).not.toMatch(/hidden|npm_|BERTH_/);
    await (await program("cat > request; echo '{}'")).create(spec);
    expect(JSON.parse(await file("request"))).toEqual(spec);
    await (await program("cat > request; echo '{\"instances\":[]}'")).list();
    expect(JSON.parse(await file("request"))).toEqual({});
  });

  test("passes credentials in a file of mode 0600, which is removed afterwards", async () => {
    const script =
      'stat -c %a "$BERTH_CREDENTIALS" > mode; cp "$BERTH_CREDENTIALS" copy; ' +
      'echo "$BERTH_CREDENTIALS" > path; tr "\\0" " " < /proc/$$/environ > all; ' +
      "tr '\\0' ' ' < /proc/$$/cmdline >> all; echo '{}'";
    const driver = await program(script, { credentials: { key: "AKIA-very-secret" } });
    await driver.destroy(ref);
    const file = (name: string) => readFile(join(folder, name), "utf8");
    expect((await file("mode")).trim()).toBe("600");
    expect(JSON.parse(await file("copy"))).toEqual({ key: "AKIA-very-secret" });
    expect(await file("all")).not.toContain("AKIA");
    expect(existsSync((await file("path")).trim())).toBe(false);
  });

  test.each([
    [10, "Retry"],
    [20, "Hopeless"],
    [30, "Absent"],
    [40, "Conflict"],
    [1, "Retry"],
    [137, "Retry"],
  ])("exit %d is %s, with the last lines of the log", async (code, name) => {
    const driver = await program(`echo the quota is used up >&2; exit ${code}`);
    await expect(driver.create(spec)).rejects.toMatchObject({
      name,
      message: `the quota is used up (driver.sh create exited with ${code})`,
    });
  });

  test.each([
    ["no output", "true", "it printed no reply"],
    ["no JSON", "echo done", "the last line that it printed is not JSON"],
    ["NUL", "printf 'a\\0b\\n'", "the last line that it printed is not JSON"],
    ["half a reply", `printf '{"phase":"rea'`, "the last line that it printed is not JSON"],
    ["a list", "echo '[]'", "its reply must be object"],
    ["no phase", "echo '{}'", "its reply must have required properties phase"],
    ["an unknown phase", `echo '{"phase":"reedy"}'`, '"phase" of its reply must be equal to one'],
    ["text as progress", `echo '{"phase":"ready","progress":"50%"}'`, '"progress" of its reply'],
  ])("explains %s", async (_, script, message) => {
    const failure = (await program(script)).observe(ref);
    await expect(failure).rejects.toMatchObject({ name: "Retry" });
    await expect(failure).rejects.toThrow(`driver.sh observe exited with 0, but ${message}`);
  });

  test("takes the last line of much output", async () => {
    const script = `i=0; while [ $i -lt 5000 ]; do echo "progress $i"; i=$((i+1)); done; echo '{"phase":"ready"}'; echo`;
    expect(await (await program(script)).observe(ref)).toEqual({ phase: "ready" });
  });

  test("ends a program that prints 100 MB, or for ever", { timeout: 240_000 }, async () => {
    const patient = { timeoutMs: 200_000 };
    const driver = await program("yes", patient);
    await expect(driver.observe(ref)).rejects.toThrow(
      "driver.sh observe printed more than 16,777,216 bytes",
    );
    const big = await program(
      'head -c 100000000 /dev/zero; echo; echo \'{"phase":"ready"}\'',
      patient,
    );
    await expect(big.observe(ref)).rejects.toThrow("printed more than");
    const loud = await program("head -c 100000000 /dev/zero >&2; exit 20", patient);
    await expect(loud.observe(ref)).rejects.toMatchObject({ name: "Hopeless" });
  });

  test("refuses a handle that is too large", async () => {
    const script = `printf '{"handle":"'; head -c 20000 /dev/zero | tr '\\0' x; echo '"}'`;
    await expect((await program(script)).create(spec)).rejects.toThrow(
      "its handle has more than 16384 bytes",
    );
  });

  test("ends the program and all that it started at its time-out", async () => {
    const driver = await program("sleep 600 & echo $! > pid; wait", { timeoutMs: 500 });
    await expect(driver.destroy(ref)).rejects.toMatchObject({
      name: "Retry",
      message: "driver.sh destroy did not end within 0.5 s",
    });
    const pid = (await readFile(join(folder, "pid"), "utf8")).trim();
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
  });

  test("kills a program that ignores TERM", async () => {
    const driver = await program("trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 300 });
    await expect(driver.observe(ref)).rejects.toThrow("did not end within");
  });

  test("ends the program when its own process is killed, whatever the program does", async () => {
    const path = join(folder, "driver.sh");
    await program("trap '' TERM HUP; echo $$ > pid; sleep 600 & echo $! > child; wait");
    const module = new URL("command-driver.ts", import.meta.url).href;
    const settings = { ...common, folder, command: [path], env: {} };
    const code = `import { CommandDriver } from ${JSON.stringify(module)};
      await new CommandDriver(${JSON.stringify(settings)}).destroy(${JSON.stringify(ref)});`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    await expect.poll(() => existsSync(join(folder, "child")), { timeout: 20_000 }).toBe(true);
    owner.kill("SIGKILL");
    const pids = await Promise.all(
      ["pid", "child"].map((name) => readFile(join(folder, name), "utf8")),
    );
    for (const pid of pids) {
      await expect.poll(() => existsSync(`/proc/${pid.trim()}/exe`)).toBe(false);
    }
  });

  test("does not wait for a daemon that the program leaves with its output open", async () => {
    const script = "setsid sleep 30 & echo $! > pid; echo '{}'";
    await (await program(script)).destroy(ref);
    const pid = Number(await readFile(join(folder, "pid"), "utf8"));
    expect(process.kill(pid, "SIGKILL")).toBe(true); // It was alive.
  });

  test("works with a program that does not read its input", async () => {
    const driver = await program("exec 0<&-; echo '{\"handle\":1}'");
    const parameters = { big: "x".repeat(500_000) };
    expect(await driver.create({ ...spec, parameters })).toBe(1);
  });

  test("is stopped by an abort, with the reason", async () => {
    const driver = await program("touch started; sleep 600");
    const stop = new AbortController();
    const call = driver.observe(ref, { signal: stop.signal });
    await expect.poll(() => existsSync(join(folder, "started"))).toBe(true);
    stop.abort(new Error("the lease is lost"));
    await expect(call).rejects.toThrow("the lease is lost");
  });

  test("returns what it has of the logs when the budget of time or size is used up", async () => {
    const budget = { bytesMax: 100, timeMsMax: 500 };
    const slow = await program("echo begin; exec sleep 600");
    expect(await slow.logs(ref, budget)).toBe(
      "begin\n\n[driver.sh logs did not end within 0.5 s]\n",
    );
    const long = await program("head -c 100000 /dev/zero | tr '\\0' x; echo end");
    const text = await long.logs(ref, { bytesMax: 100, timeMsMax: 20_000 });
    expect(text).toHaveLength(100);
    expect(text).toMatch(/xend\n$/);
  });

  test("says why a program cannot be started", async () => {
    const driver = await program("true", { command: [join(folder, "none.sh")] });
    await expect(driver.observe(ref)).rejects.toThrow(
      "none.sh observe cannot be started: there is no such program",
    );
  });

  test("masks what it passed as credentials, and control characters", async () => {
    const known: string[] = [];
    const mask = {
      register: (value: string) => void known.push(value),
      registerDocument: (value: string) => void known.push(value),
      clean: (text: string) => known.reduce((at, each) => at.replaceAll(each, "***"), text),
    };
    const path = join(folder, "driver.sh");
    await program('printf "\\033[31mdenied for " >&2; cat "$BERTH_CREDENTIALS" >&2; exit 20');
    const settings = { ...common, folder, command: [path], env: {} };
    const driver = new CommandDriver({ ...settings, credentials: { key: "very-secret" } }, mask);
    await expect(driver.create(spec)).rejects.toThrow('[31mdenied for {"key":"***"}');
  });

  test("learns the values of a kubeconfig as secrets", async () => {
    const known: string[] = [];
    const mask = {
      register: (value: string) => void known.push(value),
      registerDocument: (value: string) => void known.push(value),
      clean: (text: string) => text,
    };
    await program(`echo '{"kubeconfig":"k","username":"u","password":"p"}'`);
    const command = [join(folder, "driver.sh")];
    const driver = new CommandDriver({ ...common, folder, command, env: {} }, mask);
    expect(await driver.credentials(ref)).toEqual({
      kubeconfig: "k",
      username: "u",
      password: "p",
    });
    expect(known).toEqual(["k", "p"]);
  });
});
