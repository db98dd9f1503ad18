import { execFileSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { keyFilePath, SqliteVault, vaultPath } from "./sqlite-vault.ts";
import { type EntryName, VaultUnusable } from "./vault.ts";

const secret = "apiVersion: v1\nkind: Config\ntoken: s3cret-token-of-a-cluster\n";
const entry: EntryName = { kind: "access", owner: "ocp-1.7" };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "berth-vault-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function vaultIn(path: string): SqliteVault {
  const vault = new SqliteVault(vaultPath(path), keyFilePath(path));
  onTestFinished(() => vault.close());
  return vault;
}

/** All bytes of all files of the folder. */
function bytesIn(path: string): Buffer {
  const files = globSync("**/*", { cwd: path, withFileTypes: true }).filter((one) => one.isFile());
  return Buffer.concat(files.map((one) => readFileSync(join(one.parentPath, one.name))));
}

async function failureOf(work: Promise<unknown>): Promise<VaultUnusable> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof VaultUnusable)) throw new Error(`It did not fail so: ${String(error)}`);
  return error;
}

describe("a vault in a file", () => {
  test("opens what was put, also after it was closed, and replaces it", async () => {
    const path = folder();
    const vault = vaultIn(path);
    expect(await vault.open(entry)).toBeUndefined();
    await vault.put(entry, secret);
    await vault.close();
    const again = vaultIn(path);
    expect(await again.open(entry)).toBe(secret);
    await again.put(entry, "another");
    expect(await again.open(entry)).toBe("another");
    expect(await again.list("access")).toMatchObject([{ owner: "ocp-1.7" }]);
    expect(await again.list("credentials")).toEqual([]);
  });

  test("has no secret in clear in any file of its folder, and only its owner reads them", async () => {
    const path = folder();
    const vault = vaultIn(path);
    for (let index = 0; index < 20; index++) {
      await vault.put({ kind: "access", owner: `ocp-${index}` }, `${secret}${index}`);
    }
    const bytes = bytesIn(path);
    expect(bytes.length).toBeGreaterThan(4_000);
    expect(bytes.includes("s3cret-token")).toBe(false);
    expect(bytes.includes(Buffer.from(secret).toString("base64").slice(0, 40))).toBe(false);
    for (const file of [vaultPath(path), keyFilePath(path)]) {
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  test("overwrites the bytes of what is wiped or replaced", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    await vault.put({ ...entry, owner: "other" }, secret);
    const sealed = sealedBytes(path, entry.owner);
    expect(bytesIn(path).includes(sealed)).toBe(true);
    await vault.wipe(entry);
    await vault.wipe(entry);
    expect(bytesIn(path).includes(sealed)).toBe(false);
    expect(await vault.open(entry)).toBeUndefined();
    const other = sealedBytes(path, "other");
    await vault.put({ ...entry, owner: "other" }, "short");
    expect(bytesIn(path).includes(other)).toBe(false);
  });

  test("does not open a row that was copied to another owner or kind, or was changed", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    const mine: EntryName = { kind: "access", owner: "mine" };
    const kind: EntryName = { kind: "credentials", owner: entry.owner };
    await vault.put(mine, "x");
    await vault.put(kind, "x");
    using database = new DatabaseSync(vaultPath(path));
    const copy = database.prepare("UPDATE entry SET sealed = ? WHERE kind = ? AND owner = ?");
    const sealed = sealedBytes(path, entry.owner);
    for (const one of [mine, kind]) {
      copy.run(sealed, one.kind, one.owner);
      expect((await failureOf(vault.open(one))).message).toContain("belongs to something else");
    }
    for (const at of [0, 5, 12, 30, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      copy.run(changed, entry.kind, entry.owner);
      expect((await failureOf(vault.open(entry))).message).toMatch(/^Cannot open the secret of/);
    }
  });
});

function sealedBytes(path: string, owner: string): Buffer {
  using database = new DatabaseSync(vaultPath(path), { readOnly: true });
  const row = database.prepare("SELECT sealed FROM entry WHERE owner = ?").get(owner);
  return Buffer.from(row?.["sealed"] as Uint8Array);
}

describe("keys", () => {
  test("a lost key file is named, and no new one takes its place", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    const kept = readFileSync(keyFilePath(path));
    rmSync(keyFilePath(path));
    for (const work of [vault.open(entry), vault.put(entry, "new")]) {
      const { message, hint } = await failureOf(work);
      expect(message).toContain('vault.key": it does not exist');
      expect(hint).toContain("Restore it");
    }
    expect(await vault.list("access")).toHaveLength(1); // It needs no key.
    writeFileSync(keyFilePath(path), kept, { mode: 0o600 });
    expect(await vault.open(entry)).toBe(secret);
  });

  test("another key, a broken line and a file for everybody are refused, each by name", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    const file = keyFilePath(path);
    const write = (text: string) => writeFileSync(file, text);
    write(`${Buffer.alloc(32, 7).toString("base64")}\n`);
    expect((await failureOf(vault.open(entry))).message).toMatch(
      /sealed with the key [0-9a-f]{16}/,
    );
    write("# note\n\nnot a key\n");
    expect((await failureOf(vault.open(entry))).message).toContain("line 3 is not a key");
    expect((await failureOf(vault.open(entry))).message).not.toContain("not a key\n");
    write(`${Buffer.alloc(16).toString("base64")}\n`);
    expect((await failureOf(vault.open(entry))).message).toContain("line 1 is not a key");
    write("# nothing\n");
    expect((await failureOf(vault.open(entry))).message).toContain("it has no key");
    chmodSync(file, 0o604);
    expect((await failureOf(vault.open(entry))).hint).toContain("chmod 600");
  });

  test("a rotation seals everything with a new key while another process has the vault open", async () => {
    const path = folder();
    const server = vaultIn(path);
    await server.put(entry, secret);
    await server.put({ kind: "credentials", owner: "team-a/aws#1" }, "cloud-key");
    const before = readFileSync(keyFilePath(path), "utf8");
    expect(await vaultIn(path).rotate()).toEqual({ resealed: 2, failed: [] });
    const after = readFileSync(keyFilePath(path), "utf8");
    expect(after).not.toBe(before);
    expect(after.trim().split("\n")).toHaveLength(2); // The note and one key.
    expect(statSync(keyFilePath(path)).mode & 0o777).toBe(0o600);
    expect(await server.open(entry)).toBe(secret);
    await server.put(entry, "newer");
    expect(await vaultIn(path).open(entry)).toBe("newer");
  });

  test("a rotation that cannot open an entry keeps it and the old keys", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    await vault.put({ ...entry, owner: "broken" }, secret);
    using database = new DatabaseSync(vaultPath(path));
    database.exec("UPDATE entry SET sealed = zeroblob(80) WHERE owner = 'broken'");
    expect(await vault.rotate()).toMatchObject({ resealed: 1, failed: [{ owner: "broken" }] });
    expect(readFileSync(keyFilePath(path), "utf8").trim().split("\n")).toHaveLength(3);
    expect(await vault.open(entry)).toBe(secret);
  });

  test("any key of the file opens, as a crash in the middle of a rotation leaves it", async () => {
    const path = folder();
    const vault = vaultIn(path);
    await vault.put(entry, secret);
    const [, old = ""] = readFileSync(keyFilePath(path), "utf8").split("\n");
    const fresh = execFileSync("openssl", ["rand", "-base64", "32"], { encoding: "utf8" });
    writeFileSync(keyFilePath(path), `${fresh}${old}\n`);
    expect(await vault.open(entry)).toBe(secret);
    expect(await vault.reseal()).toEqual({ resealed: 1, failed: [] });
    writeFileSync(keyFilePath(path), fresh);
    expect(await vault.open(entry)).toBe(secret);
  });
});

test("the database of another program is refused and stays as it is", async () => {
  const path = folder();
  using other = new DatabaseSync(vaultPath(path));
  other.exec("CREATE TABLE theirs (a)");
  const before = readFileSync(vaultPath(path));
  const { message } = await failureOf(vaultIn(path).put(entry, secret));
  expect(message).toContain("another program");
  expect(readFileSync(vaultPath(path)).equals(before)).toBe(true);
});

test("a damaged file and a folder that cannot be written are precise errors", async () => {
  const path = folder();
  writeFileSync(
    vaultPath(path),
    "not a database at all, and longer than a header of one is ".repeat(30),
  );
  expect((await failureOf(vaultIn(path).open(entry))).message).toMatch(
    /Cannot open the vault ".*vault.db"/,
  );
});

test("a vault in memory keeps nothing", async () => {
  const vault = SqliteVault.inMemory();
  await vault.put(entry, secret);
  expect(await vault.open(entry)).toBe(secret);
  await vault.close();
});
