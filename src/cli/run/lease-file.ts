import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HeldLease } from "../../client/berth-client.ts";
import type { Held } from "../../client/calls.ts";
import { usageError } from "../failure.ts";
import { fromEnvironment, type Parse, readValue, token } from "../values.ts";

/** The file contains the token, so only this user can read it, and only this user its folder. */
export async function writeLeaseFile(lease: HeldLease, url: string): Promise<LeaseFile> {
  const folder = await mkdtemp(join(tmpdir(), "berth-"));
  const path = join(folder, "lease.json");
  const text = JSON.stringify({ ...lease, url }, undefined, 2);
  await writeFile(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface LeaseFile {
  readonly path: string;
  remove(): Promise<void>;
}

export interface LeaseFlags {
  readonly token?: string;
  readonly file?: string;
}

/** Finds id and token: in arguments and flags, then in a lease file, then in the environment. */
export function resolveLease(id: string | undefined, flags: LeaseFlags, verb: string): Held {
  const named = flags.file === undefined ? undefined : readLeaseFile("--file", flags.file);
  const path = id === undefined ? fromEnvironment("BERTH_LEASE_FILE", asWritten) : undefined;
  const environmentId = fromEnvironment("BERTH_LEASE_ID", asWritten);
  const environmentToken = environmentLeaseToken();
  const fallback =
    path !== undefined && (environmentId === undefined || environmentToken === undefined)
      ? readLeaseFile("BERTH_LEASE_FILE", path)
      : undefined;
  const leaseId = id ?? named?.id ?? environmentId ?? fallback?.id;
  const proof = flags.token ?? named?.token ?? environmentToken ?? fallback?.token;
  if (leaseId === undefined) {
    const hint = "Pass an id from berth leases, or set BERTH_LEASE_ID or BERTH_LEASE_FILE";
    throw usageError(`Cannot ${verb}: no lease is given`, hint);
  }
  if (proof === undefined) {
    const hint = "Pass --token, or set BERTH_LEASE_TOKEN or BERTH_LEASE_FILE";
    throw usageError(`Cannot ${verb} ${leaseId}: its token is missing`, hint);
  }
  return { id: leaseId, token: proof };
}

const asWritten: Parse<string> = (text) => text;

function environmentLeaseToken(): string | undefined {
  return fromEnvironment("BERTH_LEASE_TOKEN", token) ?? fromEnvironment("BERTH_TOKEN", token);
}

function readLeaseFile(name: string, path: string): Held {
  const unusable = (state: string) =>
    usageError(`Cannot use ${name} "${path}": ${state}`, "Use the file that berth run wrote");
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw unusable(error instanceof SyntaxError ? "it is not JSON" : "it cannot be read");
  }
  if (typeof found !== "object" || found === null || !("id" in found) || !("token" in found)) {
    throw unusable("it does not contain a lease with its token");
  }
  return { id: String(found.id), token: readValue("token", String(found.token), token) };
}
