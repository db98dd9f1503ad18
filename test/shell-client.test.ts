/** `clients/shell/berth.sh` in a real bash, against a proxy that counts what it is sent. */
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Process } from "./cli-processes.ts";

const script = fileURLToPath(new URL("../clients/shell/berth.sh", import.meta.url));

let folder: string;
let server: Server;
let proxyUrl: string;
let requests: { readonly url: string; readonly body: string; readonly key: string }[];
/** What the proxy answers instead of lending. */
let failing: { status: number; body: string } | undefined;
/** The command lines of all processes of this machine, read while a call waits for its answer. */
let commandLines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-shell-test-"));
  requests = [];
  failing = undefined;
  commandLines = [];
  let lent = 0;
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const url = (request.url ?? "").replace(/^\/secret-of-the-job/, "");
    commandLines = await readCommandLines();
    requests.push({ url, body, key: String(request.headers["idempotency-key"] ?? "") });
    const query = new URL(url, "http://proxy").searchParams;
    if (failing !== undefined) response.writeHead(failing.status).end(failing.body);
    else if (url === "/lease/release") response.writeHead(204).end();
    else if (query.get("type") === "nope") response.writeHead(404).end("not found\n");
    else {
      const count = Number(query.get("count"));
      const names = Array.from({ length: count }, () => `${query.get("type")}-0${lent++}`);
      response.end(JSON.stringify({ names }));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  proxyUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function readCommandLines(): Promise<string[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = (id: string) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "");
  return (await Promise.all(processes.map(read))).map((line) => line.replaceAll("\0", " "));
}

/** Under the strictest settings, and with a shell in SHELL that is no bash. */
async function bash(lines: string, env: NodeJS.ProcessEnv = {}) {
  const all = {
    PATH: process.env["PATH"],
    SHELL: "/bin/dash",
    SHARED_DIR: folder,
    LEASE_HANDLE_DIR: folder,
    LEASE_PROXY_SERVER_URL: proxyUrl,
    LEASE_RETRY_DELAY: "0",
    ...env,
  };
  const started = new Process(
    "bash",
    ["--norc", "-euo", "pipefail", "-c", `source ${script}\n${lines}`],
    all,
  );
  return Object.assign(started, { code: await started.ended });
}

const posted = () => requests.map(({ url, body }) => `${url}${body}`);

test("the functions show the secret of the proxy's address in no command line", async () => {
  const { code, stdout } = await bash(
    `handle=$(lease__acquire --type=slot --scope=step); lease__release --handle="$handle"`,
    { LEASE_PROXY_SERVER_URL: `${proxyUrl}/secret-of-the-job/` },
  );
  expect([code, stdout]).toEqual([0, "slot-00 released\n"]);
  expect(posted()).toHaveLength(2);
  expect(commandLines.some((line) => line.startsWith("curl "))).toBe(true);
  expect(commandLines.filter((line) => line.includes("secret-of-the-job"))).toEqual([]);
});

test("lease__acquire without a proxy logs that it does nothing, and checks its arguments", async () => {
  const none = { LEASE_PROXY_SERVER_URL: "" };
  const dry = await bash("lease__acquire --type=x", none);
  expect([dry.code, dry.stdout]).toEqual([0, "LEASE_PROXY_SERVER_URL-not-set-dry-run-mode\n"]);
  const bad = await bash("lease__acquire --count=1", none);
  expect([bad.code, bad.stderr]).toEqual([1, "resource type parameter is invalid\n"]);
  const release = await bash("lease__release --names=a,b --delay=1h", none);
  expect([release.code, release.stdout]).toEqual([
    0,
    'LEASE_PROXY_SERVER_URL not set, dry run mode: it would release "a,b"\n',
  ]);
});

test("lease__acquire prints a handle: a file with the names, one per line", async () => {
  const run = await bash("lease__acquire --type=x --count=2 --scope=step", {
    LEASE_HANDLE_DIR: undefined,
  });
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/^\/tmp\/x-[A-Za-z0-9]{5}$/);
  expect(await readFile(run.stdout, "utf8")).toBe("x-00\nx-01");
  expect(await readFile(`${run.stdout}.lock`, "utf8")).toBe("");
  await rm(run.stdout);
  await rm(`${run.stdout}.lock`);
});

test("lease__release of a handle sends one request, and none the second time", async () => {
  const run = await bash(`
    handle=$(lease__acquire --type=x --count=2 --scope=step)
    lease__release --handle="$handle"
    lease__release --handle="$handle"
    lease__release --handle=`);
  expect([run.code, run.stdout]).toEqual([0, "x-00,x-01 released\n"]);
  expect(posted()).toEqual([
    "/lease/acquire?type=x&count=2",
    '/lease/release{"names":["x-00","x-01"]}',
  ]);
  expect(await readdir(folder)).toEqual([]); // No lock, no temporary file.
});

test("two concurrent releases of a handle send one request", async () => {
  const run = await bash(`
    handle=$(lease__acquire --type=x --scope=step)
    lease__release --handle="$handle" --delay=0.3s & first=$!
    lease__release --handle="$handle" --delay=0.3s & second=$!
    wait $first; wait $second`);
  expect([run.code, run.stdout]).toEqual([0, "x-00 released\n"]);
  expect(posted().slice(1)).toEqual(['/lease/release{"names":["x-00"]}']);
});

test("leases of the whole test are released by a later step in one request", async () => {
  const first = await bash("lease__acquire -t y >/dev/null; lease__acquire -t y -c 2 >/dev/null");
  expect(first.code).toBe(0);
  const later = await bash("lease__release --scope=test; lease__release --scope=test");
  expect([later.code, later.stdout]).toEqual([0, "y-00,y-01,y-02 released\n"]);
  expect(await readFile(join(folder, "leases"), "utf8")).toBe("");
  expect(posted().at(-1)).toBe('/lease/release{"names":["y-00","y-01","y-02"]}');
});

test("a lease that was released by its handle is not released again with those of the test", async () => {
  const run = await bash(`
    first=$(lease__acquire --type=y); second=$(lease__acquire --type=y)
    lease__release --handle="$first"
    lease__release --scope=test`);
  expect(run.stdout).toBe("y-00 released\ny-01 released\n");
});

test("lease__acquire of an unknown type returns 2 at once and reports it on stderr", async () => {
  const run = await bash("lease__acquire --type=nope");
  expect([run.code, run.stdout, run.stderr]).toEqual([
    2,
    "",
    'Failed to acquire "nope": it does not exist\n',
  ]);
  expect(requests).toHaveLength(1);
});

describe("lease__acquire", () => {
  test("tries six times with one key, and then reports the server's answer", async () => {
    failing = { status: 500, body: "out of order\n" };
    const run = await bash("lease__acquire --type=x");
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toBe(
      'Unexpected response code 500 while acquiring lease "x"\nout of order\n\n',
    );
    expect(requests).toHaveLength(6);
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1);
    expect(requests[0]?.key).not.toBe("");
  });

  test("reports a proxy that does not answer", async () => {
    server.close();
    const run = await bash("lease__acquire --type=x");
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toContain('Unexpected response code 000 while acquiring lease "x"');
  });

  test.each([
    ["3 when nothing became free, and does not wait again", 500, ": resources not found\n", 3],
    ["4 when it is refused, and does not ask again", 422, "it has 2\n", 4],
  ])("returns %s", async (_, status, body, code) => {
    failing = { status, body };
    const run = await bash("lease__acquire --type=x");
    expect([run.code, run.stdout]).toEqual([code, ""]);
    expect(requests).toHaveLength(1);
  });

  test.each(['{"names":', '{"names":[]}', "<html>", ""])(
    "reports that it cannot read the answer %s",
    async (body) => {
      failing = { status: 200, body };
      const run = await bash("lease__acquire --type=x");
      expect([run.code, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toContain("Failed to parse the response\n");
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test("encodes what it sends", async () => {
    const run = await bash("lease__acquire --type='a&b c' --scope=step");
    expect(run.code).toBe(0);
    const query = new URL(requests[0]?.url ?? "", "http://proxy").searchParams;
    expect(Object.fromEntries(query)).toEqual({ type: "a&b c", count: "1" });
    expect(await readFile(run.stdout, "utf8")).toBe("a&b c-00");
  });

  test("requests nothing if it cannot store the result", async () => {
    const run = await bash("lease__acquire --type=x", { SHARED_DIR: "" });
    expect([run.code, run.stderr]).toEqual([1, "$SHARED_DIR is empty\n"]);
    expect(requests).toEqual([]);
  });

  test("releases a lease that it cannot write to its file", async () => {
    const run = await bash("lease__acquire --type=x --scope=step", {
      LEASE_HANDLE_DIR: join(folder, "missing"),
    });
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(posted().at(-1)).toBe('/lease/release{"names":["x-00"]}');
  });

  test("prints nothing for a count of 0", async () => {
    const run = await bash("lease__acquire --type=x --count=0");
    expect([run.code, run.stdout]).toEqual([0, ""]);
  });
});

test.each([
  ["lease__acquire --type=", "resource type parameter is invalid"],
  ["lease__acquire --type=x --count=-1", "count parameter is invalid"],
  ["lease__acquire --type=x --scope=job", "scope parameter is invalid"],
  ["lease__acquire --type=x --jitter=0s", "jitter parameter is invalid"],
  ["lease__acquire --type=x --jitter=5", "jitter parameter is invalid"],
  ["lease__acquire --type=x --jiter=5m", "Unknown option: --jiter=5m"],
  ["lease__acquire --type", "Option --type needs a value"],
  ["lease__release", "One of --names, --handle, or --scope is required"],
  ["lease__release --scope=step", "lease names are required"],
  ["lease__release --names=", "lease names are required"],
  [
    "lease__release --names=a --scope=test",
    "Parameters --names, --handle, and --scope are mutually exclusive",
  ],
  ["lease__release --handel=x", "Unknown option: --handel=x"],
  ["lease__cat --handle=x --format=xml", "Invalid format xml"],
])("%s is refused: %s", async (line, message) => {
  const run = await bash(line);
  expect([run.code, run.stdout, run.stderr]).toEqual([1, "", `${message}\n`]);
  expect(requests).toEqual([]);
});

test("a release that failed can be repeated", async () => {
  failing = { status: 500, body: "no\n" };
  const handle = join(folder, "x-12345");
  const failed = await bash(`printf 'a\\nb' >${handle}; lease__release --handle=${handle}`);
  expect([failed.code, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toContain(
    'Unexpected response code 500 while releasing leases "a,b"\nno\n',
  );
  failing = undefined;
  const again = await bash(`lease__release --handle=${handle}`);
  expect([again.code, again.stdout]).toEqual([0, "a,b released\n"]);
});

test("lease__cat prints the names, as lines or with commas, and nothing for a released lease", async () => {
  const run = await bash(`
    handle=$(lease__acquire --type=x --count=2 --scope=step)
    lease__cat --handle="$handle"; echo
    lease__cat --handle="$handle" --format=csv; echo
    lease__cat --handle="$handle" --pretty-format=csv
    lease__cat --handle=/no/such`);
  expect([run.code, run.stdout]).toEqual([0, "x-00\nx-01\nx-00,x-01\nx-00,x-01\n"]);
});

test.each([
  ["openshift-org-aws", "yes"],
  ["openshift-org-", "no"],
  ["aws", "no"],
  [undefined, "no"],
])("lease__install_lease_eligible with the set %s: %s", async (set, said) => {
  const line = "if lease__install_lease_eligible; then echo yes; else echo no; fi";
  const run = await bash(line, { CLUSTER_PROFILE_SET_NAME: set });
  expect(run.stdout).toBe(`${said}\n`);
});

test("the functions are available in a bash that a step starts", async () => {
  const run = await bash("bash -c 'lease__acquire --type=x --scope=step'");
  expect([run.code, requests.length]).toEqual([0, 1]);
});

test("another shell than bash gets an error", async () => {
  const dash = new Process("sh", ["-c", `. ${script}; echo "returned $?"`], process.env);
  await dash.ended;
  expect(dash.all).toContain("this shell is not bash");
});
