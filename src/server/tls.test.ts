/** Runs the whole server in this process with TLS, on a real port. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import type { ConfigStatus } from "../api/schemas.ts";
import { tokenHash } from "../auth/static-tokens.ts";
import { callHttps, type HttpsCall } from "./https-call.suite.ts";
import type { Running, ServeOptions } from "./main.ts";
import {
  daysFromNow,
  localNames,
  TestAuthority,
  type TestCertificate,
} from "./test-certificates.suite.ts";
import { TlsPlace } from "./tls-place.suite.ts";

const authority = new TestAuthority();
const { cert: ca } = authority;

const serialOf = ({ cert }: TestCertificate) => new X509Certificate(cert).serialNumber;

const warningsOf = async ({ url }: Running, call: HttpsCall = { ca }) => {
  const { body } = await callHttps(`${url}/v1/config`, call);
  return (body as ConfigStatus).warnings;
};

const shownBy = async ({ url }: Running) => (await callHttps(`${url}/healthz`, { ca })).serial;

/** Calls until the server shows the certificate. */
const untilShown = async (server: Running, pair: TestCertificate) => {
  while ((await shownBy(server)) !== serialOf(pair));
};

describe("serve() with a certificate", () => {
  test("serves HTTPS, also for metrics, and health without TLS", async () => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    const sides = { healthListen: "127.0.0.1:0", metricsListen: "127.0.0.1:0" };
    const server = await here.start(sides);
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await callHttps(`${server.url}/v1/pools`, { ca })).toMatchObject({ status: 200 });
    expect(server.metricsUrl).toMatch(/^https:/);
    const metrics = await callHttps(`${server.metricsUrl}/metrics`, { ca });
    expect(metrics.body).toContain("berth_pool");
    expect(server.healthUrl).toMatch(/^http:/);
    expect((await fetch(`${server.healthUrl}/healthz`)).status).toBe(200);
    expect(await warningsOf(server)).toEqual([]);
  });

  test("keeps connections open, and answers nonsense, as without TLS", async () => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    const { url } = await here.start();
    using open = disposable(new Agent({ keepAlive: true }));
    const { headers } = await callHttps(`${url}/healthz`, { ca, agent: open.it });
    expect(headers["keep-alive"]).toBe("timeout=120");
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", ca });
    socket.write("nonsense\r\n\r\n");
    expect(await text(socket)).toContain("Cannot read the request: Bad Request");
  });

  test("refuses TLS 1.1", async () => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    const { url } = await here.start();
    const old = callHttps(`${url}/healthz`, { ca, maxVersion: "TLSv1.1" });
    await expect(old).rejects.toThrow(/protocol version/);
    expect(await callHttps(`${url}/healthz`, { ca, maxVersion: "TLSv1.2" })).toBeDefined();
  });

  test("answers plain HTTP with the way out", async () => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    const { url } = await here.start();
    const plain = await fetch(`${url.replace("https", "http")}/v1/pools`);
    expect(plain.status).toBe(400);
    expect(await plain.json()).toMatchObject({
      code: "tls_required",
      hint: "Use https:// instead of http://",
    });
    expect(await callHttps(`${url}/healthz`, { ca })).toMatchObject({ status: 200 });
  });

  test("stops at once although clients have connected and sent nothing", async () => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    const server = await here.start({ metricsListen: "127.0.0.1:0" });
    const idle = [server.url, server.metricsUrl ?? ""].map((url) =>
      connectTcp({ port: Number(new URL(url).port), host: "127.0.0.1" }),
    );
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    // Accepted in this order, so the server knows the idle ones when it answers this.
    await callHttps(`${server.url}/healthz`, { ca });
    await callHttps(`${server.metricsUrl}/metrics`, { ca });
    await server.stop();
    for (const socket of idle) socket.destroy();
  });

  test("warns two weeks before it expires", async () => {
    await using here = await TlsPlace.make();
    const soon = daysFromNow(13);
    await here.write(authority.issue({ san: localNames, until: soon }));
    const server = await here.start();
    const [warning] = await warningsOf(server);
    expect(warning).toContain(`expires at ${soon.toISOString().slice(0, 19)}`);
    await here.write(authority.issue({ san: localNames, until: daysFromNow(15) }));
    await server.reload();
    expect(await warningsOf(server)).toEqual([]);
  });
});

describe("a renewed certificate", () => {
  test("is shown at once, while open connections and leases go on", async () => {
    await using here = await TlsPlace.make();
    const [first, second] = [authority.issue(), authority.issue()];
    await here.write(first);
    const server = await here.start();
    const { url } = server;
    using open = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
    const body = { items: [{ pool: "aws" }], holder: "a" };
    const held = await callHttps(`${url}/v1/leases`, { ca, method: "POST", body, agent: open.it });
    const { id, token } = held.body as { id: string; token: string };
    // This call waits for the resource while the certificate changes.
    const waiting = callHttps(`${url}/v1/leases`, {
      ...{ ca, method: "POST" },
      body: { items: [{ pool: "aws" }], holder: "b", wait: "60s" },
    });
    while (!JSON.stringify(await callHttps(`${url}/v1/requests`, { ca })).includes('"b"'));
    await here.write(second);
    await untilShown(server, second);

    const headers = { authorization: `Bearer ${token}` };
    const beat = { ca, method: "POST", headers, agent: open.it };
    expect(await callHttps(`${url}/v1/leases/${id}/heartbeat`, beat)).toMatchObject({
      status: 200,
      reused: true,
    });
    const release = { ca, method: "DELETE", headers, agent: open.it };
    expect(await callHttps(`${url}/v1/leases/${id}`, release)).toMatchObject({ reused: true });
    const granted = await waiting;
    expect(granted).toMatchObject({ status: 201, serial: serialOf(first) });
  });

  test("may come through the symbolic link of a mounted Secret", async () => {
    await using here = await TlsPlace.make();
    const [first, second] = [authority.issue(), authority.issue()];
    const mount = async (name: string, { cert, key }: TestCertificate) => {
      await mkdir(here.path(name));
      await writeFile(here.path(`${name}/tls.crt`), cert);
      await writeFile(here.path(`${name}/tls.key`), key);
      await symlink(name, here.path("..data.new"));
      await rename(here.path("..data.new"), here.path("..data"));
    };
    await mount("..1", first);
    for (const name of ["tls.crt", "tls.key"]) await symlink(`..data/${name}`, here.path(name));
    const tls = { cert: here.path("tls.crt"), key: here.path("tls.key") };
    const server = await here.start({ tls });
    expect(await shownBy(server)).toBe(serialOf(first));
    await mount("..2", second);
    await untilShown(server, second);
  });

  const bad: Record<string, [(here: TlsPlace) => Promise<void>, string]> = {
    "has another key": [
      (here) => here.replace("key.pem", authority.issue().key),
      "it is not the key of the certificate in",
    ],
    "has expired": [
      (here) => here.write(authority.issue({ san: localNames, until: daysFromNow(-1) })),
      "the certificate expired at",
    ],
    "is gone": [(here) => rm(here.path("cert.pem")), "there is no such file"],
  };

  test.each(Object.entries(bad))("is not used if it %s", async (_, [spoil, message]) => {
    await using here = await TlsPlace.make();
    const first = authority.issue();
    await here.write(first);
    const server = await here.start();
    await spoil(here);
    await server.reload();
    expect(await warningsOf(server)).toEqual([expect.stringContaining(message)]);
    expect(await shownBy(server)).toBe(serialOf(first));
    const next = authority.issue();
    await here.write(next);
    await server.reload();
    expect(await warningsOf(server)).toEqual([]);
    expect(await shownBy(server)).toBe(serialOf(next));
  });
});

describe("tokens over plain HTTP", () => {
  const token = "a-token-0123456789";
  const auth = `
auth: { tokens: [{ name: a, sha256: ${tokenHash(token)}, space: a, role: admin }] }`;

  const warningsWith = async (more: Partial<ServeOptions>, withTls = false) => {
    await using here = await TlsPlace.make();
    await here.write(authority.issue());
    await writeFile(here.path("berth.yaml"), `pools: { aws: { count: 1 } }${auth}`);
    const { url } = await here.start({ listen: "0.0.0.0:0", ...more }, withTls);
    const address = `${url.replace("0.0.0.0", "127.0.0.1")}/v1/config`;
    const headers = { authorization: `Bearer ${token}` };
    if (url.startsWith("https")) {
      return ((await callHttps(address, { ca, headers })).body as ConfigStatus).warnings;
    }
    return ((await (await fetch(address, { headers })).json()) as ConfigStatus).warnings;
  };

  test("are warned of beyond loopback, unless a proxy adds TLS", async () => {
    expect(await warningsWith({})).toEqual([
      expect.stringContaining("Tokens travel unencrypted to 0.0.0.0"),
    ]);
    expect(await warningsWith({ listen: "127.0.0.1:0" })).toEqual([]);
    expect(await warningsWith({ trustProxies: ["10.0.0.0/8"] })).toEqual([]);
    expect(await warningsWith({}, true)).toEqual([]);
  });
});

function disposable(it: Agent): { readonly it: Agent } & Disposable {
  return { it, [Symbol.dispose]: () => it.destroy() };
}
