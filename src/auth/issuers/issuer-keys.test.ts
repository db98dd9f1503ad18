/** The keys of an issuer over time: rotation, outages, floods, reloads. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Problem } from "../../api/problem.ts";
import type { AuthSpec } from "../auth-spec.ts";
import { Authenticator } from "../authenticator.ts";
import type { IssuerSpec } from "../issuer-spec.ts";
import { issuerLimits } from "./limits.ts";
import { everyone, makeKey, TestIssuer } from "./test-issuer.suite.ts";

const { coolDownMs, refreshMs, staleMs } = issuerLimits;

/** An authenticator with a clock that the test sets. */
class TestAuth {
  nowMs = 1_700_000_000_000;
  readonly reports: string[] = [];
  readonly auth: Authenticator;

  constructor(...issuers: readonly IssuerSpec[]) {
    this.auth = new Authenticator(specOf(...issuers), () => this.nowMs, {
      up: () => this.reports.push("up"),
      down: (_, why) => this.reports.push(`down: ${why instanceof Error ? why.message : why}`),
    });
  }

  /** The name of the caller, or the status of the refusal. */
  async call(token: string): Promise<string | number> {
    try {
      return (await this.auth.authenticate(`Bearer ${token}`)).name;
    } catch (error) {
      if (error instanceof Problem) return error.status;
      throw error;
    }
  }

  /** True if the token is known without any promise. */
  isRemembered(token: string): boolean {
    const found = this.auth.authenticate(`Bearer ${token}`);
    if (!(found instanceof Promise)) return true;
    found.catch(() => {});
    return false;
  }
}

const specOf = (...issuers: readonly IssuerSpec[]): AuthSpec => ({ tokens: [], issuers });

test("a verified token is remembered until it expires", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const token = await issuer.sign(here.nowMs);
  expect(await here.call(token)).toBe("job:1");
  expect(here.isRemembered(token)).toBe(true);
  here.nowMs += 300_000;
  expect(here.isRemembered(token)).toBe(false);
});

test("calls with the same token at the same time wait for one verification", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const token = await issuer.sign(here.nowMs);
  const found = [1, 2, 3].map(() => here.auth.authenticate(`Bearer ${token}`));
  expect(new Set(found).size).toBe(1);
  await Promise.all(found);
  expect(issuer.fetched).toEqual(["/.well-known/openid-configuration", "/keys"]);
});

test("a new key is found when a token names it, an old one is dropped with its tokens", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const old = await issuer.sign(here.nowMs);
  expect(await here.call(old)).toBe("job:1");
  here.nowMs += coolDownMs;
  issuer.keys = [await makeKey("second")];
  const young = await issuer.sign(here.nowMs);
  expect(await here.call(young)).toBe("job:1");
  expect(here.isRemembered(old)).toBe(false);
  expect(await here.call(old)).toBe(401);
});

test("a flood of unknown key ids fetches the keys once in a cool-down", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  await here.call(await issuer.sign(here.nowMs));
  const forged = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      return issuer.sign(here.nowMs, {}, await makeKey(`unknown-${at}`));
    }),
  );
  for (const token of forged) expect(await here.call(token)).toBe(401);
  expect(issuer.keyFetches).toBe(1);
  here.nowMs += coolDownMs;
  expect(await Promise.all(forged.map((token) => here.call(token)))).toEqual(forged.map(() => 401));
  expect(issuer.keyFetches).toBe(2);
});

test("known keys go on working while the issuer is down, for any time", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  issuer.trouble = (response) => response.destroy();
  for (const laterMs of [refreshMs + 1, staleMs + 1, 100 * staleMs]) {
    here.nowMs += laterMs;
    const token = await issuer.sign(here.nowMs);
    expect(await here.call(token)).toBe("job:1");
    here.nowMs += coolDownMs; // The next call tries the issuer again, and does not wait for it.
    expect(here.isRemembered(token)).toBe(true);
  }
  const young = await makeKey("made-in-the-outage");
  expect(await here.call(await issuer.sign(here.nowMs, {}, young))).toBe(503);
  expect(here.reports).toEqual(["up", "down: fetch failed"]);
  issuer.trouble = undefined;
  issuer.keys = [young];
  here.nowMs += coolDownMs;
  expect(await here.call(await issuer.sign(here.nowMs, {}, young))).toBe("job:1");
  expect(here.reports).toEqual(["up", "down: fetch failed", "up"]);
});

test("an issuer that hangs does not delay calls with a known key", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const token = await issuer.sign(here.nowMs);
  expect(await here.call(token)).toBe("job:1");
  issuer.trouble = () => {}; // Never answers.
  here.nowMs += refreshMs - 1;
  const other = await issuer.sign(here.nowMs);
  here.nowMs += 2;
  expect(await here.call(other)).toBe("job:1");
  expect(here.isRemembered(other)).toBe(true);
});

test("keys are fetched again in the background while they are used", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  here.nowMs += refreshMs - 1;
  const token = await issuer.sign(here.nowMs);
  expect(await here.call(token)).toBe("job:1");
  expect(issuer.keyFetches).toBe(1);
  here.nowMs += 2;
  const fetched = issuer.nextFetch("/keys");
  expect(here.isRemembered(token)).toBe(true);
  await fetched;
  expect(issuer.keyFetches).toBe(2);
});

test.each([
  ["keys that were not used for long", staleMs + 1],
  ["keys that were read when the clock was ahead", -3_600_000],
])("%s are read again before they count", async (_, passedMs) => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const [withdrawn] = issuer.keys;
  expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  issuer.keys = [await makeKey("second")];
  here.nowMs += passedMs;
  expect(await here.call(await issuer.sign(here.nowMs, {}, withdrawn))).toBe(401);
});

describe("a token gets 503 if no key was ever read, because of", () => {
  const causes: Record<string, [TestIssuer["trouble"], string]> = {
    "an error": [(response) => response.writeHead(500).end(), "answered with status 500"],
    "a document that is no JSON": [(response) => response.end("<html>"), "is not JSON"],
    "a document about another issuer": [
      (response) => response.end('{"issuer":"https://evil.example"}'),
      'is about another issuer: "https://evil.example"',
    ],
    "a document that never ends": [
      (response) => {
        const more = () => response.write("x".repeat(65_536), (error) => error ?? more());
        more();
      },
      "has more than 262144 bytes",
    ],
    "a redirect": [
      (response) => {
        const { url = "", headers } = response.req;
        const issuer = `http://${headers.host}`;
        const document = { issuer, jwks_uri: `${issuer}/keys`, keys: [{ kty: "RSA" }] };
        if (url.startsWith("/.well-known/")) response.writeHead(302, { location: "/moved" }).end();
        else response.end(JSON.stringify(document));
      },
      "fetch failed",
    ],
    "keys at an address that others can imitate": [
      (response) => {
        const issuer = `http://${response.req.headers.host}`;
        response.end(JSON.stringify({ issuer, jwks_uri: "http://192.0.2.1/keys" }));
      },
      "http://192.0.2.1/keys is neither https nor on this machine",
    ],
  };

  test.each(Object.entries(causes))("%s", async (_, [trouble, message]) => {
    await using issuer = await TestIssuer.start();
    issuer.trouble = trouble;
    const here = new TestAuth(issuer.spec());
    expect(await here.call(await issuer.sign(here.nowMs))).toBe(503);
    expect(here.reports).toEqual([expect.stringContaining(message)]);
    issuer.trouble = undefined;
    here.nowMs += coolDownMs;
    expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  });

  test.each<[string, string, object]>([
    ["no list", "no list of keys", { key: [] }],
    ["a secret key only", "no public key", { keys: [{ kty: "oct", k: "c2VjcmV0" }] }],
    [
      "a private key only",
      "no public key",
      { keys: [{ kty: "RSA", n: "AQAB", e: "AQAB", d: "A" }] },
    ],
    ["too many keys", "more than 100 keys", { keys: Array(101).fill({ kty: "RSA" }) }],
  ])("a list of keys with %s", async (_, message, document) => {
    await using issuer = await TestIssuer.start();
    issuer.trouble = (response) => response.end(JSON.stringify(document));
    const proof = { type: "keys-url", url: `${issuer.url}/keys` } as const;
    const here = new TestAuth({ ...issuer.spec(), proof });
    expect(await here.call(await issuer.sign(here.nowMs))).toBe(503);
    expect(here.reports).toEqual([expect.stringContaining(message)]);
  });
});

test("a reload keeps the keys of issuers that did not change, and uses the new rules", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const token = await issuer.sign(here.nowMs);
  expect(await here.call(token)).toBe("job:1");
  issuer.trouble = (response) => response.destroy();
  here.auth.configure(specOf(issuer.spec([{ ...everyone, name: "renamed" }])));
  expect(await here.call(token)).toBe("renamed");
  here.auth.configure(specOf(issuer.spec([{ ...everyone, claims: { sub: "nobody" } }])));
  expect(await here.call(token)).toBe(403);
  here.auth.configure(specOf());
  expect(await here.call(token)).toBe(401);
  expect(issuer.keyFetches).toBe(1);
});

test("a verification that a reload overtakes is not remembered", async () => {
  await using issuer = await TestIssuer.start();
  const here = new TestAuth(issuer.spec());
  const token = await issuer.sign(here.nowMs);
  const running = here.auth.authenticate(`Bearer ${token}`);
  here.auth.configure(specOf(issuer.spec([{ ...everyone, name: "renamed" }])));
  await running;
  expect(await here.call(token)).toBe("renamed");
});

test("keys in a file are read again when it changes", async () => {
  await using issuer = await TestIssuer.start();
  const path = join(await mkdtemp(join(tmpdir(), "berth-keys-")), "keys.json");
  const publish = () =>
    writeFile(path, JSON.stringify({ keys: issuer.keys.map((key) => key.publicJwk) }));
  await publish();
  const here = new TestAuth({ ...issuer.spec(), proof: { type: "keys-file", path } });
  expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  issuer.keys = [await makeKey("second")];
  await publish();
  here.nowMs += coolDownMs;
  expect(await here.call(await issuer.sign(here.nowMs))).toBe("job:1");
  expect(issuer.fetched).toEqual([]);
});

test("two clusters may have the same issuer, each with its own keys", async () => {
  await using issuer = await TestIssuer.start();
  const keys = [await makeKey("one"), await makeKey("two")];
  const folder = await mkdtemp(join(tmpdir(), "berth-keys-"));
  const specs = keys.map(({ kid }): IssuerSpec => {
    const proof = { type: "keys-file", path: join(folder, kid) } as const;
    return { ...issuer.spec([{ ...everyone, name: kid }]), proof };
  });
  for (const { kid, publicJwk } of keys) {
    await writeFile(join(folder, kid), JSON.stringify({ keys: [publicJwk] }));
  }
  const here = new TestAuth(...specs);
  for (const key of keys) {
    expect(await here.call(await issuer.sign(here.nowMs, {}, key))).toBe(key.kid);
  }
  for (const key of keys) {
    const late = await issuer.sign(here.nowMs - 400_000, {}, key);
    await expect(here.auth.authenticate(`Bearer ${late}`)).rejects.toThrow("expired at");
  }
  expect(await here.call(await issuer.sign(here.nowMs, {}, await makeKey("three")))).toBe(401);
});
