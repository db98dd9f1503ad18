/** The authorities that sign the certificates of servers. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../failure.ts";
import { fromEnvironment, type Parse } from "../values.ts";

const asWritten: Parse<string> = (text) => text;

/** Trusts the authorities of `--ca-file` or BERTH_CA_FILE, in addition to those of Node. */
export function trustAuthorities(caFile: string | undefined): void {
  const path = caFile ?? fromEnvironment("BERTH_CA_FILE", asWritten);
  if (path === undefined) return;
  const name = caFile === undefined ? "BERTH_CA_FILE" : "--ca-file";
  const certificates = readCertificates(name, path);
  // Most commands need no TLS, so that it is loaded here only.
  const tls = process.getBuiltinModule("node:tls");
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...certificates]);
  // The command of `berth run` may call the server as well, from another folder.
  process.env["BERTH_CA_FILE"] = resolve(path);
}

function readCertificates(name: string, path: string): readonly string[] {
  const refuse = (state: string, hint: string) =>
    usageError(`Cannot use ${name} "${path}": ${state}`, hint);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const state = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw refuse(state, "Check the path and its rights");
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (found.length === 0) {
    throw refuse(
      "it has no certificate in PEM form",
      "Give a file with -----BEGIN CERTIFICATE-----",
    );
  }
  for (const block of found) {
    if (!isCertificate(block)) throw refuse("a certificate in it is damaged", "Get the file again");
  }
  return found;
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
