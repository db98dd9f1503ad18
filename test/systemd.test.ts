/** The unit: what systemd says about it, and whether the server can live with what it forbids. */
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";
import { freePort } from "./free-port.ts";
import { isInstalled, output, ran, without } from "./programs.ts";

const folder = fileURLToPath(new URL("../deploy/systemd/", import.meta.url));
const unit = readFileSync(join(folder, "berth.service"), "utf8");
const place = mkdtempSync(join(tmpdir(), "berth-systemd-test-"));
/** With the program where it is here. */
const here = join(place, "berth.service");

beforeAll(() => writeFileSync(here, unit.replaceAll("/usr/local/bin/berth", berthPath)));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** The system calls of a set such as `@system-service`, with those of the sets in it. */
function callsOf(set: string): Set<string> {
  const lines = output("systemd-analyze", ["syscall-filter", set]).split("\n");
  const names = lines.map((line) => line.trim()).filter((line) => /^[@a-z_]/.test(line));
  return new Set(
    names.flatMap((name) => (name === set ? [] : name.startsWith("@") ? [...callsOf(name)] : name)),
  );
}

/** As the unit starts it: as an ordinary user, with no capability and no way to get one. */
function asTheUnit(): string[] {
  const limits = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
  const line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...limits];
  const isPossible =
    process.getuid?.() === 0 &&
    isInstalled("setpriv") &&
    ran("setpriv", [...line.slice(1), "test", "-x", berthPath]).status === 0;
  return isPossible ? line : [];
}

const checkout = fileURLToPath(new URL("../", import.meta.url));

/** The commands of a section of the guide, as they stand there. */
function guideSteps(heading: string): string {
  const guide = readFileSync(join(checkout, "docs/guides/install.md"), "utf8");
  const [, section = ""] = guide.split(`\n## ${heading}\n`);
  return /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
}

/**
 * The machine as it is, but what is written to it is gone afterwards. Node 24 is where the guide wants it,
 * and `systemctl` starts the unit's command as its user: there is no systemd that could.
 */
const scratchMachine = `set -eu
over=$1 port=$2
mount -t tmpfs none "$over"
for each in etc usr/local var; do
  mkdir -p "$over/$each/upper" "$over/$each/work"
  mount -t overlay none -o "lowerdir=/$each,upperdir=$over/$each/upper,workdir=$over/$each/work" "/$each"
done
mount -t tmpfs none /run
install -m 755 node_modules/node/bin/node /usr/local/bin/node
cat > /usr/local/bin/systemctl <<'END'
#!/bin/sh
[ "$*" = "enable --now berth" ] || exit 1
unit=/etc/systemd/system/berth.service
user=$(sed -n 's/^User=//p' $unit)
install -d -o "$user" -g "$user" -m 700 /var/lib/berth /var/cache/berth
cd /
# shellcheck disable=SC2046
setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs env -i PATH=/usr/local/bin:/usr/bin:/bin \
  XDG_CACHE_HOME=/var/cache/berth BERTH_LISTEN="$BERTH_LISTEN" $(sed -n 's/^ExecStart=//p' $unit) > /run/berth.log 2>&1 &
echo $! > /run/berth.pid
until grep -q 'Berth lends' /run/berth.log; do kill -0 "$(cat /run/berth.pid)"; sleep 0.2; done
END
chmod 755 /usr/local/bin/systemctl
trap 'cat /run/berth.log; kill "$(cat /run/berth.pid)"' EXIT
export BERTH_LISTEN="127.0.0.1:$port" BERTH_URL="http://127.0.0.1:$port" PATH="/usr/local/bin:$PATH"
`;

test("the steps of the guide for a host with systemd end in a lease", {
  timeout: 300_000,
}, async (context) => {
  const missing = without("systemd-sysusers", "systemd") || without("setpriv", "util-linux");
  context.skip(missing !== false, `${missing}`);
  const canMount = ran("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
  context.skip(!canMount, "they need the right to mount");
  const over = join(place, "over");
  mkdirSync(over);
  const script = scratchMachine + guideSteps("A host with systemd");
  const args = ["-m", "sh", "-c", script, "sh", over, String(await freePort())];
  const { status, stdout, stderr } = ran("unshare", args, { cwd: checkout });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/^I have aws-\S+$/m);
});

describe("deploy/systemd/berth.service", () => {
  test("is accepted by systemd, which rates it as well protected", (context) => {
    const missing = without("systemd-analyze", "systemd");
    context.skip(missing !== false, `${missing}`);
    const verified = ran("systemd-analyze", ["verify", "--man=no", here]);
    expect(verified).toMatchObject({ status: 0, stderr: "" });
    // 10 is a service without any protection.
    const rate = ["security", "--offline=true", "--no-pager", "--threshold=20", here];
    expect(ran("systemd-analyze", rate)).toMatchObject({ status: 0 });
  });

  test("starts a server that lends, with only the system calls that it allows", async (context) => {
    const missing = without("systemd-analyze", "systemd") || without("strace", "strace");
    context.skip(missing !== false, `${missing}`);
    // The server watches the folder of its configuration, so the trace must not be there.
    const [data, etc] = [join(place, "data"), join(place, "etc")];
    for (const path of [data, etc]) mkdirSync(path);
    writeFileSync(join(etc, "berth.yaml"), JSON.stringify({ pools: { acc: { count: 1 } } }));
    for (const path of [place, data]) chownSync(path, asTheUnit().length > 0 ? 65_534 : -1, -1);
    const [, line = ""] = /^ExecStart=(.+)$/m.exec(readFileSync(here, "utf8")) ?? [];
    const args = line
      .replace("/etc/berth/berth.yaml", join(etc, "berth.yaml"))
      .replace("/var/lib/berth", data)
      .split(" ");
    const calls = join(place, "calls");
    const trace = ["strace", "-f", "-qq", "-o", calls, ...args, "--listen", "127.0.0.1:0"];
    const [file = "", ...rest] = [...asTheUnit(), ...trace];
    const server = new Process(file, rest, { PATH: process.env["PATH"], HOME: place });
    const [, url = ""] = await server.says(/Berth lends .* at (\S+)/);
    const job = ["run", "--server", url, "--pool", "acc", "--", "true"];
    expect(ran(berthPath, job)).toMatchObject({ status: 0 });
    const tracer = server.child.pid;
    process.kill(
      Number(readFileSync(`/proc/${tracer}/task/${tracer}/children`, "utf8")),
      "SIGTERM",
    );
    expect(await server.ended).toBe(0);
    const used = new Set(
      Array.from(readFileSync(calls, "utf8").matchAll(/^\d+ +([a-z]\w+)\(/gm), ([, name]) => name),
    );
    expect(used.size).toBeGreaterThan(30);
    const [allowed, denied] = [callsOf("@system-service"), callsOf("@privileged")];
    const refused = [...used].filter((name = "") => !allowed.has(name) || denied.has(name));
    expect(refused).toEqual([]);
  });

  test("comes with a user and a folder for its configuration", (context) => {
    const missing = without("systemd-sysusers", "systemd");
    context.skip(missing !== false || process.getuid?.() !== 0, `${missing || "they need root"}`);
    const root = join(place, "root");
    mkdirSync(join(root, "etc"), { recursive: true });
    output("systemd-sysusers", [`--root=${root}`, join(folder, "berth.sysusers")]);
    expect(readFileSync(join(root, "etc/passwd"), "utf8")).toMatch(/^berth:.*:\/var\/lib\/berth:/m);
    output("systemd-tmpfiles", [`--root=${root}`, "--create", join(folder, "berth.tmpfiles")]);
    expect(output("stat", ["-c", "%a", join(root, "etc/berth")])).toBe("750\n");
  });
});
