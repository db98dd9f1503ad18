/** A server with TLS as a process, and its clients: the command line, curl, and a job. */
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { callHttps } from "../src/server/https-call.suite.ts";
import {
  daysFromNow,
  localNames,
  TestAuthority,
  type TestCertificate,
} from "../src/server/test-certificates.suite.ts";
import { TestServer } from "./cli-processes.ts";

const authority = new TestAuthority();
const token = "a-token-for-this-test";
const config = {
  pools: { aws: { count: 2, lockDelay: "0s" } },
  auth: {
    tokens: [{ name: "ci", sha256: tokenHash(token), space: "team", role: "holder" }],
  },
};

let folder: string;
let caFile: string;
let server: TestServer;

const write = async ({ cert, key }: TestCertificate) => {
  for (const [name, text] of Object.entries({ "tls.crt": cert, "tls.key": key })) {
    await writeFile(join(folder, `${name}.new`), text);
    await rename(join(folder, `${name}.new`), join(folder, name));
  }
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-cli-tls-"));
  caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.cert);
  await write(authority.issue());
  const files = ["--tls-cert", join(folder, "tls.crt"), "--tls-key", join(folder, "tls.key")];
  server = await TestServer.startWith(config, ...files);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe("berth", () => {
  const env = { BERTH_TOKEN: token };

  /** In a process of its own: what a process trusts cannot be taken back. */
  const berth = async (args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const started = server.berth(args, { ...env, ...more });
    return { code: await started.ended, all: started.all };
  };

  test("names the way out if it does not trust the authority", async () => {
    const { code, all } = await berth(["pools"]);
    expect(all).toBe(
      `berth: Cannot reach the server at ${server.url}: this machine does not trust the authority ` +
        "that signed its certificate\n" +
        "  Name the certificate of the authority: --ca-file FILE or BERTH_CA_FILE\n",
    );
    expect(code).toBe(69);
  });

  test("trusts the authorities of --ca-file and BERTH_CA_FILE", async () => {
    expect(await berth(["pools", "--ca-file", caFile])).toMatchObject({ code: 0 });
    expect(await berth(["--ca-file", caFile, "pools"])).toMatchObject({ code: 0 });
    expect(await berth(["pools"], { BERTH_CA_FILE: caFile })).toMatchObject({ code: 0 });
    const other = new TestAuthority("CN=Another CA").cert;
    await writeFile(join(folder, "other.pem"), other);
    const wrong = await berth(["pools", "--ca-file", join(folder, "other.pem")]);
    expect(wrong).toMatchObject({ code: 69, all: expect.stringContaining("does not trust") });
  });

  test("passes the authorities on to the command of berth run", async () => {
    const inner = 'cd / && "$BERTH" leases';
    const run = ["run", "--ca-file", caFile, "--pool", "aws", "--", "sh", "-c", inner];
    const { code, all } = await berth(run, {
      BERTH: new URL("../bin/berth", import.meta.url).pathname,
    });
    expect({ code, all }).toMatchObject({ code: 0, all: expect.stringContaining("aws-1") });
  });

  test("says that the port speaks TLS if it is called with http://", async () => {
    const url = server.url.replace("https:", "http:");
    const { code, all } = await berth(["pools", "--server", url]);
    expect(all).toContain("this port speaks TLS\n  Use https:// instead of http://");
    expect(code).not.toBe(0);
  });

  test.each([
    ["nothing.pem", undefined, "ENOENT"],
    ["empty.pem", "", "it has no certificate in PEM form"],
    [
      "damaged.pem",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
      "a certificate in it is damaged",
    ],
  ])("refuses the authorities in %s", async (name, text, state) => {
    const path = join(folder, name);
    if (text !== undefined) await writeFile(path, text);
    const { code, all } = await server.done(["pools", "--ca-file", path]);
    expect(all).toContain(`Cannot use --ca-file "${path}": ${state}`);
    expect(code).toBe(64);
  });

  const unusable: [string, TestCertificate, RegExp][] = [
    [
      "expired",
      authority.issue({ san: localNames, until: daysFromNow(-1) }),
      /: its certificate has expired\n {2}Renew the certificate of the server, and check the clock/,
    ],
    [
      "of tomorrow",
      authority.issue({ san: localNames, from: daysFromNow(1) }),
      /: its certificate is not valid yet\n {2}Check the clock of this machine/,
    ],
    [
      "for another name",
      authority.issue({ san: ["DNS:berth.example"] }),
      /: its certificate is for DNS:berth\.example, not for 127\.0\.0\.1\n {2}Set --server or BERTH_URL/,
    ],
  ];

  test.each(unusable)("explains a certificate that is %s", async (_, { cert, key }, message) => {
    const other = createServer({ cert, key });
    await once(other.listen(0, "127.0.0.1"), "listening");
    const url = `https://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, all } = await berth(["pools", "--server", url, "--ca-file", caFile]);
    other.close();
    expect(all).toMatch(message);
    expect(code).toBe(69);
  });
});

describe("curl", () => {
  const curl = async (...args: string[]) => {
    const run = promisify(execFile)("curl", ["-sS", "--max-time", "20", ...args]);
    return (await run).stdout;
  };

  test("calls the API with a token, and Boskos's calls with a password", async () => {
    const bearer = ["-H", `Authorization: Bearer ${token}`];
    const pools = JSON.parse(await curl("--cacert", caFile, ...bearer, `${server.url}/v1/pools`));
    expect(pools).toMatchObject({ items: [{ name: "aws" }] });
    const acquire = `${server.url}/acquire?type=aws&state=free&dest=busy&owner=me`;
    const boskos = ["--cacert", caFile, "-u", `ci:${token}`, "-X", "POST"];
    const resource = JSON.parse(await curl(...boskos, acquire));
    expect(resource).toMatchObject({ type: "aws", state: "busy", owner: "me" });
    await curl(...boskos, `${server.url}/release?name=${resource.name}&dest=free&owner=me`);
  });

  test("offers HTTP/2 and gets HTTP/1.1", async () => {
    const format = ["-o", join(folder, "out"), "-w", "%{http_version} %{http_code}", "--http2"];
    expect(await curl("--cacert", caFile, ...format, `${server.url}/healthz`)).toBe("1.1 200");
  });

  test("refuses the certificate without the authority, and plain HTTP is answered", async () => {
    await expect(curl(`${server.url}/healthz`)).rejects.toThrow(/certificate/);
    const plain = await curl(`${server.url.replace("https:", "http:")}/healthz`);
    expect(JSON.parse(plain)).toMatchObject({ code: "tls_required" });
  });
});

test("the server uses renewed files by itself, and reads them again on HUP", async () => {
  const renewed = authority.issue();
  await write(renewed);
  const { serialNumber } = new X509Certificate(renewed.cert);
  const call = () => callHttps(`${server.url}/healthz`, { ca: authority.cert });
  while ((await call()).serial !== serialNumber);
  const uses = () => server.log.split("certificate in use").length;
  const before = uses();
  server.signal("SIGHUP");
  while (uses() === before) await call();
});

test("a pair that does not belong together stops the start with exit code 78", async () => {
  const bad = join(folder, "bad");
  await mkdir(bad);
  await writeFile(join(bad, "tls.crt"), authority.issue().cert);
  await writeFile(join(bad, "tls.key"), authority.issue().key);
  const files = ["--tls-cert", join(bad, "tls.crt"), "--tls-key", join(bad, "tls.key")];
  const started = server.berth(["serve", "--memory", "--listen", "127.0.0.1:0", ...files]);
  expect(await started.ended).toBe(78);
  expect(started.all).toContain(
    `berth: Cannot use --tls-key "${join(bad, "tls.key")}": it is not the key of the certificate in ` +
      `${join(bad, "tls.crt")}\n  Give the two files that were made together\n`,
  );
});
