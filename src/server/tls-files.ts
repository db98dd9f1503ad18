/** Reads the files of TLS, and finds out whether a server can use them. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { CannotServe, exitCodes } from "./cannot-serve.ts";

export interface TlsPaths {
  /** The certificate of the server, then those between it and the authority that clients trust. */
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates; absent: clients are not asked for one. */
  readonly clientCa?: string;
}

/** A pair that the server can use. */
export interface TlsPair {
  readonly context: SecureContextOptions;
  readonly expiresAtMs: number;
}

/** The content of the files as read at one time, good or bad. */
export interface TlsText {
  readonly cert: FileText;
  readonly key: FileText;
  readonly clientCa?: FileText;
}

interface FileText {
  /** The option that named the file. */
  readonly flag: string;
  readonly path: string;
  readonly text: string;
  /** Set if the file cannot be read. */
  readonly unreadable?: string;
}

export async function readTlsFiles({ cert, key, clientCa }: TlsPaths): Promise<TlsText> {
  const [certText, keyText, caText] = await Promise.all([
    readText("--tls-cert", cert),
    readText("--tls-key", key),
    clientCa === undefined ? undefined : readText("--tls-client-ca", clientCa),
  ]);
  return {
    cert: certText,
    key: keyText,
    ...(caText === undefined ? undefined : { clientCa: caText }),
  };
}

async function readText(flag: string, path: string): Promise<FileText> {
  try {
    return { flag, path, text: await readFile(path, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { flag, path, text: "", unreadable: fileErrors[code] ?? `it is unreadable (${code})` };
  }
}

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a folder",
};

/** Throws `CannotServe` with the first reason why a server cannot use these files. */
export function checkTlsFiles({ cert, key, clientCa }: TlsText, nowMs: number): TlsPair {
  const chain = readCertificates(cert);
  const privateKey = readKey(key);
  const [own] = chain;
  if (own === undefined) throw unusable(cert, "it has no certificate in PEM form", pemHint);
  checkPair(cert, key, chain, privateKey);
  checkDates(cert, own, nowMs);
  if (clientCa !== undefined && readCertificates(clientCa).length === 0) {
    throw unusable(clientCa, "it has no certificate in PEM form", pemHint);
  }
  const context: SecureContextOptions = {
    cert: cert.text,
    key: key.text,
    minVersion: "TLSv1.2",
    ...(clientCa === undefined ? undefined : { ca: clientCa.text }),
  };
  try {
    createSecureContext(context);
  } catch (error) {
    throw unusable(cert, `OpenSSL refuses it (${messageOf(error)})`, "Use a stronger certificate");
  }
  return { context, expiresAtMs: Date.parse(own.validTo) };
}

const pemHint = "Give a file with -----BEGIN CERTIFICATE-----";

/** All certificates of a file, in their order. */
function readCertificates(file: FileText): readonly X509Certificate[] {
  if (file.unreadable !== undefined) throw unusable(file, file.unreadable, fileHint);
  const blocks = file.text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  return blocks.map((block, at) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      const state = `its certificate ${at + 1} is damaged (${messageOf(error)})`;
      throw unusable(file, state, "Write the file again");
    }
  });
}

const fileHint = "Check the path and its rights";

function readKey(file: FileText): KeyObject {
  if (file.unreadable !== undefined) throw unusable(file, file.unreadable, fileHint);
  try {
    return createPrivateKey(file.text);
  } catch {
    // The message never has a part of the file.
    if (/ENCRYPTED/.test(file.text)) {
      const hint = `Remove its passphrase: openssl pkey -in ${file.path} -out NEW-FILE`;
      throw unusable(file, "the key has a passphrase", hint);
    }
    const hint = "Give a file with -----BEGIN PRIVATE KEY-----";
    throw unusable(file, "it has no private key in PEM form", hint);
  }
}

function checkPair(
  cert: FileText,
  key: FileText,
  chain: readonly X509Certificate[],
  privateKey: KeyObject,
): void {
  const at = chain.findIndex((one) => one.checkPrivateKey(privateKey));
  if (at === 0) return;
  if (at > 0) {
    const state = `its first certificate is not the one of ${key.path}, but number ${at + 1} is`;
    throw unusable(cert, state, "Put the server's own certificate first, then the others");
  }
  const state = `it is not the key of the certificate in ${cert.path}`;
  throw unusable(key, state, "Give the two files that were made together");
}

function checkDates(file: FileText, { validFrom, validTo }: X509Certificate, nowMs: number): void {
  if (Date.parse(validTo) <= nowMs) {
    throw unusable(file, `the certificate expired at ${isoTime(validTo)}`, "Renew it");
  }
  if (Date.parse(validFrom) > nowMs) {
    const state = `the certificate is valid only from ${isoTime(validFrom)} on`;
    throw unusable(file, state, "Check the clock of this machine, or use another certificate");
  }
}

function isoTime(text: string): string {
  return new Date(text).toISOString();
}

function unusable({ flag, path }: FileText, state: string, hint: string): CannotServe {
  return new CannotServe(`Cannot use ${flag} "${path}": ${state}`, hint, exitCodes.configuration);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
