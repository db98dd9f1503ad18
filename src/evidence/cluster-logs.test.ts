import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Redactor } from "../vault/redactor.ts";
import { ClusterLogs, clusterLogsPath, logLimits } from "./cluster-logs.ts";

const log = (instance: string, text: string, pool = "ocp") => ({
  ...{ name: "ocp-1", pool, instance, space: null, atMs: 1_000, why: "create failed", text },
});

test("logs of a cluster are kept over a restart, the latest first, for the owner only", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-logs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = clusterLogsPath(folder);
  const first = new ClusterLogs(path, new Redactor());
  first.put(log("ocp-1.1", "one"));
  first.put(log("ocp-1.2", "two"));
  first.close();
  const logs = new ClusterLogs(path, new Redactor());
  expect(logs.of("ocp-1").map(({ text }) => text)).toEqual(["two", "one"]);
  expect(logs.of("ocp-2")).toEqual([]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  logs.close();
});

test("only the last failures of each pool are kept, and of each only the end", () => {
  const logs = ClusterLogs.inMemory(new Redactor());
  logs.put(log("other.1", "stays", "gcp"));
  for (let index = 0; index < logLimits.perPoolMax + 5; index++) {
    logs.put(log(`ocp-1.${index}`, `${"x".repeat(10)} ${index}`));
  }
  const kept = logs.of("ocp-1");
  expect(kept).toHaveLength(logLimits.perPoolMax + 1);
  expect(kept[0]?.instance).toBe("ocp-1.24");
  expect(kept.at(-1)?.text).toBe("stays");
  logs.put(log("ocp-1.99", `start${"y".repeat(logLimits.bytesMax)}end`));
  const [long] = logs.of("ocp-1");
  expect(long?.text).toMatch(/^\(the beginning is cut\)\ny+end$/);
});

test("known values and what looks like a secret are masked before they are stored", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-logs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const redactor = new Redactor();
  redactor.register("correct-horse");
  const logs = new ClusterLogs(clusterLogsPath(folder), redactor);
  const secrets = [
    "correct-horse",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0xx.c2lnbmF0dXJlLXBhcnQ",
    "TUlJRXBBSUJBQUtDQVFFQXVLZXk",
    "hunter2-in-a-url",
    "MIIEowIBAAKCAQEA",
  ];
  const text = `login with ${secrets[0]}
    key ${secrets[1]} aws_secret_access_key = ${secrets[2]}
    Authorization: Bearer ${secrets[3]}
    client-key-data: ${secrets[4]}
    cloning https://user:${secrets[5]}@git.example.com/x
    -----BEGIN RSA PRIVATE KEY-----\n${secrets[6]}\n-----END RSA PRIVATE KEY-----
    the install failed at step 7`;
  logs.put(log("ocp-1.1", text));
  logs.close();
  const stored = readFileSync(clusterLogsPath(folder), "latin1");
  for (const secret of secrets) expect(stored).not.toContain(secret);
  expect(stored).toContain("the install failed at step 7");
});

test("a text whose secrets cannot be masked is not stored", () => {
  const broken = {
    clean: () => {
      throw new Error("scanner failed");
    },
  };
  const logs = ClusterLogs.inMemory(broken);
  logs.put(log("ocp-1.1", "token=abc"));
  expect(logs.of("ocp-1")).toMatchObject([{ text: expect.stringContaining("not stored") }]);
});
