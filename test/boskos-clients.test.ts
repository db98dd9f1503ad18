/** Clients that nobody here wrote: shell scripts around curl as they are used, and one like Go's. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";
import { GoClient, noResourceHeld, notFound, typeNotFound } from "./go-client.suite.ts";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ account: { count: 2 }, slot: { count: 1 } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Everything is free again, whatever the last test did. */
beforeEach(async () => {
  const waiting = (await (await fetch(`${server.url}/v1/requests`)).json()) as {
    items: { id: string }[];
  };
  for (const { id } of waiting.items)
    await fetch(`${server.url}/v1/requests/${id}?force=true`, { method: "DELETE" });
  for (const type of ["account", "slot"]) {
    for (const state of ["busy", "dirty", "cleaning", "leased"]) {
      await fetch(`${server.url}/reset?type=${type}&state=${state}&expire=0&dest=free`, {
        method: "POST",
      });
    }
  }
  for (const name of ["account-1", "account-2", "slot-1"]) {
    await fetch(`${server.url}/v1/resources/${name}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ state: "free" }),
    });
  }
});

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a script as a CI job does, with the address in its environment. */
async function bash(script: string): Promise<Ended> {
  const env = { ...process.env, BOSKOS_HOST: new URL(server.url).host, no_proxy: "127.0.0.1" };
  const run = promisify(execFile)("bash", ["--norc", "-ceu", `set -o pipefail\n${script}`], {
    env,
  });
  return run.then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stdout, stderr }) => ({ code, output: `${stdout}${stderr}` }),
  );
}

describe("a shell script", () => {
  const checkout = `
    reply=$(curl -s -X POST \\
      "http://$BOSKOS_HOST/acquire?type=$1&state=free&dest=busy&owner=ci%2F$2")`;
  const functions = `
    checkout() {${checkout}
      if grep -q failed <<<"$reply"; then echo "none: $reply" >&2; return 1; fi
      sed -n 's/.*"name":"\\([^"]*\\)".*/\\1/p' <<<"$reply"
    }
    # The body and the code run together: anything but nothing before the 200 is an error.
    expect_200() {
      code=$(curl -s -w '%{http_code}' "$@")
      [[ "$code" == 200 ]] || { echo "got $code" >&2; return 1; }
    }`;

  test("acquires by name, sends heartbeats, stores user data and releases", async () => {
    const { code, output } = await bash(`${functions}
      name=$(checkout account 7)
      url="http://$BOSKOS_HOST"
      expect_200 -X POST "$url/update?name=$name&owner=ci%2F7&state=busy"
      expect_200 -d '{"region":"eu-1"}' "$url/update?name=$name&owner=ci%2F7&state=busy"
      expect_200 -X POST -H 'Content-Type: application/json' -H 'Content-Length: 0' \\
        "$url/update?name=$name&owner=ci%2F7&state=busy"
      expect_200 -X POST "$url/release?name=$name&dest=dirty&owner=ci%2F7"
      expect_200 -X POST "$url/release?name=$name&dest=dirty&owner=ci%2F7"
      curl -s -X POST "$url/acquire?type=account&state=dirty&dest=cleaning&owner=janitor"`);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^\{"type":"account",.*"userdata":\{"region":"eu-1"\}\}$/),
    });
  });

  test.each(["account", "nothing-of-the-kind"])(
    "recognises by the reply that there is no %s",
    async (type) => {
      const { code, output } = await bash(`${functions}
        checkout account 1 >/dev/null; checkout account 2 >/dev/null
        checkout ${type} 3`);
      expect(code).toBe(1);
      expect(output).toMatch(/^none: Acquire failed: /);
    },
  );

  test("that pipes the reply through a JSON reader gets no name if nothing was acquired", async () => {
    const reader = `node -e 'console.log(JSON.parse(require("fs").readFileSync(0)).name)'`;
    const url = `"http://$BOSKOS_HOST/acquire?type=slot&state=free&dest=busy&owner=x"`;
    expect(await bash(`curl -s -X POST ${url} | ${reader}`)).toEqual({
      code: 0,
      output: "slot-1\n",
    });
    const second = await bash(`curl -s -X POST ${url} | ${reader} 2>/dev/null`);
    expect(second).toMatchObject({ code: 1, output: "" });
  });

  test("recognises another owner's lease by the status code", async () => {
    const { code, output } = await bash(`${functions}
      name=$(checkout slot 1)
      expect_200 -X POST "http://$BOSKOS_HOST/release?name=$name&dest=free&owner=somebody"`);
    expect(code).toBe(1);
    expect(output).toMatch(/^got Done failed: slot-1 .*\n401$/m);
  });

  test("resets expired leases with a duration without a unit, and reads the metrics", async () => {
    const { code, output } = await bash(`
      url="http://$BOSKOS_HOST"
      curl -s -o /dev/null -X POST "$url/acquire?type=slot&state=free&dest=leased&owner=x"
      curl -sf -X POST "$url/reset?type=slot&state=leased&expire=0&dest=free"; echo
      curl -sf "$url/metric?type=slot"; echo
      curl -sf "$url/anything/at/all"; echo "$?"`);
    expect({ code, output }).toEqual({
      code: 0,
      output: '{"slot-1":"x"}\n{"type":"slot","current":{"free":1},"owner":{"":1}}\n0\n',
    });
  });

  test("follows the redirect of a doubled slash with curl -L", async () => {
    const url = "http://$BOSKOS_HOST//metric?type=slot";
    expect((await bash(`curl -s -o /dev/null -w '%{http_code}' "${url}"`)).output).toBe("301");
    expect((await bash(`curl -sL "${url}"`)).output).toContain('"type":"slot"');
  });
});

describe("a client like Go's", () => {
  test("acquires, sends heartbeats, stores, releases and reads the metrics over one connection", async () => {
    using client = new GoClient(server.url, "job/1 & co");
    const { name, owner, state, userdata } = await client.acquire("slot", "free", "busy");
    expect({ name, owner, state, userdata }).toEqual({
      ...{ name: "slot-1", owner: "job/1 & co", state: "busy", userdata: {} },
    });
    await client.syncAll();
    await client.updateOne(name, "busy", {});
    await client.updateOne(name, "busy", { key: "value" });
    expect(await client.metric("slot")).toMatchObject({ owner: { "job/1 & co": 1 } });
    await client.updateOne(name, "busy", { key: "" });
    await client.releaseAll("free");
    expect(client.reused).toBe(6);
    expect(client.pauses).toEqual([]);
  });

  test('distinguishes "nothing is free" from "unknown type" if the option is set', async () => {
    using client = new GoClient(server.url, "o");
    await client.acquire("slot", "free", "busy");
    await expect(client.acquire("slot", "free", "busy")).rejects.toThrow(notFound);
    await expect(client.acquire("nothing", "free", "busy")).rejects.toThrow(notFound);
    client.distinguishTypes = true;
    await expect(client.acquire("slot", "free", "busy")).rejects.toThrow(notFound);
    await expect(client.acquire("nothing", "free", "busy")).rejects.toThrow(typeNotFound);
    await expect(client.acquireByState("free", "busy", ["slot-1"])).rejects.toThrow(notFound);
    expect(client.pauses).toEqual([]);
  });

  test("tries four times after most errors, with pauses", async () => {
    using client = new GoClient(server.url, "o");
    await expect(client.release("nobody", "free")).rejects.toThrow(
      /^status 404 Not Found, statusCode 404 releasing nobody$/,
    );
    expect(client.pauses).toEqual([1_000, 4_000, 9_000]);
    await expect(client.acquireByState("free", "busy", [])).rejects.toThrow(
      /^status 400 Bad Request, status code 400$/,
    );
    expect(client.pauses).toHaveLength(6);
  });

  test("lists its own resources only", async () => {
    using client = new GoClient(server.url, "o");
    await expect(client.releaseAll("free")).rejects.toThrow(noResourceHeld);
    await expect(client.releaseOne("res", "free")).rejects.toThrow("no resource name res");
    await expect(client.updateOne("res", "busy")).rejects.toThrow("no resource name res");
    const taken = await client.acquireByState("free", "busy", ["account-1", "slot-1"]);
    expect(taken.map(({ name }) => name).sort()).toEqual(["account-1", "slot-1"]);
    await client.releaseAll("free");
    expect(client.held).toEqual([]);
  });

  test("is served in the order of requests", async () => {
    using holder = new GoClient(server.url, "holder");
    const slot = await holder.acquire("slot", "free", "busy");
    const clients = [1, 2, 3].map((number) => new GoClient(server.url, `job-${number}`));
    const order: string[] = [];
    const working: Promise<void>[] = [];
    for (const [index, client] of clients.entries()) {
      const work = async (): Promise<void> => {
        const { name } = await client.acquireWait("slot", "free", "busy");
        order.push(client.owner);
        await client.releaseOne(name, "free");
      };
      working.push(work());
      await untilWaiting(index + 1);
    }
    await holder.releaseOne(slot.name, "free");
    await Promise.all(working);
    expect(order).toEqual(["job-1", "job-2", "job-3"]);
    for (const client of clients) client[Symbol.dispose]();
  });

  test("stops between two polls", async () => {
    using holder = new GoClient(server.url, "holder");
    await holder.acquire("slot", "free", "busy");
    using client = new GoClient(server.url, "late");
    const ended = client.acquireWait("slot", "free", "busy", { signal: AbortSignal.abort() });
    await expect(ended).rejects.toThrow("context deadline exceeded");
  });
});

async function untilWaiting(count: number): Promise<void> {
  for (;;) {
    const reply = await fetch(`${server.url}/v1/requests`);
    const { items } = (await reply.json()) as { items: unknown[] };
    if (items.length >= count) return;
  }
}
