import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CannotServe } from "./cannot-serve.ts";
import { daysFromNow, TestAuthority } from "./test-certificates.suite.ts";
import { checkTlsFiles, readTlsFiles } from "./tls-files.ts";

const authority = new TestAuthority();
const good = authority.issue();
const other = authority.issue();
const withPassphrase = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "abcd" },
}).privateKey;
const damaged = good.cert.replace(/.{20}\n-----END/, "AAAA\n-----END");
const outdated = authority.issue({ until: daysFromNow(-1) });
const early = authority.issue({ from: daysFromNow(1) });

interface Files {
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
}

/** The message and hint of the refusal; undefined if a server can use the files. */
async function refusalOf({ cert, key, ca }: Files): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "berth-tls-files-"));
  const path = (name: string) => join(folder, name);
  try {
    if (cert !== undefined) await writeFile(path("c.pem"), cert);
    if (key !== undefined) await writeFile(path("k.pem"), key);
    if (ca !== undefined) await writeFile(path("ca.pem"), ca);
    const paths = { cert: path("c.pem"), key: path("k.pem") };
    const text = await readTlsFiles(
      ca === undefined ? paths : { ...paths, clientCa: path("ca.pem") },
    );
    checkTlsFiles(text, Date.now());
    return undefined;
  } catch (error) {
    if (!(error instanceof CannotServe)) throw error;
    return `${error.message} (${error.hint})`.replaceAll(`${folder}/`, "");
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("checkTlsFiles() accepts a chain with its key, and authorities of clients", async () => {
  expect(await refusalOf(good)).toBeUndefined();
  const chain = `text before it\n${good.cert}${authority.cert}`;
  expect(await refusalOf({ cert: chain, key: good.key, ca: authority.cert })).toBeUndefined();
});

test("checkTlsFiles() allows TLS 1.2 or newer, also if Node allows older versions", async () => {
  const file = (name: string, content: string) => ({ flag: name, path: name, text: content });
  const text = { cert: file("c", good.cert), key: file("k", good.key) };
  expect(checkTlsFiles(text, Date.now()).context.minVersion).toBe("TLSv1.2");
});

const refused: Record<string, [Files, string]> = {
  "no certificate file": [
    { key: good.key },
    'Cannot use --tls-cert "c.pem": there is no such file (Check the path and its rights)',
  ],
  "no key file": [
    { cert: good.cert },
    'Cannot use --tls-key "k.pem": there is no such file (Check the path and its rights)',
  ],
  "the two files exchanged": [
    { cert: good.key, key: good.cert },
    'Cannot use --tls-key "k.pem": it has no private key in PEM form ' +
      "(Give a file with -----BEGIN PRIVATE KEY-----)",
  ],
  "an empty certificate": [
    { cert: "", key: good.key },
    'Cannot use --tls-cert "c.pem": it has no certificate in PEM form ' +
      "(Give a file with -----BEGIN CERTIFICATE-----)",
  ],
  "a damaged certificate": [
    { cert: damaged, key: good.key },
    'Cannot use --tls-cert "c.pem": its certificate 1 is damaged',
  ],
  "a key with a passphrase": [
    { cert: good.cert, key: withPassphrase },
    'Cannot use --tls-key "k.pem": the key has a passphrase (Remove its passphrase: openssl pkey',
  ],
  "the key of another certificate": [
    { cert: good.cert, key: other.key },
    'Cannot use --tls-key "k.pem": it is not the key of the certificate in c.pem ' +
      "(Give the two files that were made together)",
  ],
  "a chain in the wrong order": [
    { cert: authority.cert + good.cert, key: good.key },
    'Cannot use --tls-cert "c.pem": its first certificate is not the one of k.pem, but number 2 ' +
      "is (Put the server's own certificate first, then the others)",
  ],
  "an expired certificate": [
    outdated,
    'Cannot use --tls-cert "c.pem": the certificate expired at 20',
  ],
  "a certificate of tomorrow": [early, "the certificate is valid only from 20"],
  "authorities of clients without a certificate": [
    { ...good, ca: good.key },
    'Cannot use --tls-client-ca "ca.pem": it has no certificate in PEM form',
  ],
};

test.each(Object.entries(refused))("checkTlsFiles() refuses %s", async (_, [files, message]) => {
  const refusal = await refusalOf(files);
  expect(refusal).toContain(message);
  expect(refusal).not.toContain(good.key.slice(30, 60));
});
