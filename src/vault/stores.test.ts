import { expect, test } from "vitest";
import { AccessStore } from "./access-store.ts";
import { Redactor } from "./redactor.ts";
import { readRef, SpaceCredentials, writeRef } from "./space-credentials.ts";
import { SqliteVault } from "./sqlite-vault.ts";

const later = () => Date.now() + 120_000;

test("access is found by its instance until it is not kept, and its values are masked", async () => {
  const vault = SqliteVault.inMemory();
  const redactor = new Redactor();
  const access = new AccessStore(vault, redactor);
  const bundle = { kubeconfig: "users: [{user: {token: abc-token-1}}]", password: "pass-word-1" };
  await access.put("ocp-1.1", bundle);
  await access.put("ocp-2.1", { kubeconfig: "other" });
  expect(redactor.clean("abc-token-1 pass-word-1")).toBe("[hidden] [hidden]");
  expect(await access.open("ocp-1.1")).toEqual(bundle);
  expect(await access.open("ocp-1.2")).toBeUndefined();
  expect(await access.keepOnly(async () => new Set(["ocp-2.1"]))).toBe(1);
  expect(await access.open("ocp-1.1")).toBeUndefined();
  expect(await access.open("ocp-2.1")).toEqual({ kubeconfig: "other" });
});

test("a process that opens access registers its values too", async () => {
  const vault = SqliteVault.inMemory();
  await new AccessStore(vault, new Redactor()).put("a.1", {
    kubeconfig: "k",
    password: "pw-12345",
  });
  const redactor = new Redactor();
  await new AccessStore(vault, redactor).open("a.1");
  expect(redactor.clean("pw-12345")).toBe("[hidden]");
});

test("credentials belong to one space, and a new value is a new version", async () => {
  const vault = SqliteVault.inMemory();
  const redactor = new Redactor();
  const credentials = new SpaceCredentials(vault, redactor);
  const first = await credentials.put("team-a", "aws", {
    KEY: "first-key",
    REGION: "eu-central-1",
  });
  const second = await credentials.put("team-a", "aws", { KEY: "second-key" });
  expect([first.version, second.version]).toEqual([1, 2]);
  expect(await credentials.current("team-a", "aws")).toEqual(second);
  expect(await credentials.current("team-b", "aws")).toBeUndefined();
  expect(await credentials.list("team-a")).toMatchObject([
    { name: "aws", version: 2, keys: ["KEY"] },
  ]);
  expect(await credentials.list("team-b")).toEqual([]);
  expect(await credentials.open(first)).toEqual({ KEY: "first-key", REGION: "eu-central-1" });
  expect(await credentials.open({ ...first, space: "team-b" })).toBeUndefined();
  expect(redactor.clean("first-key second-key")).toBe("[hidden] [hidden]");
});

test("deleted credentials stay while a cluster needs them, and are then erased", async () => {
  const vault = SqliteVault.inMemory();
  const credentials = new SpaceCredentials(vault, new Redactor());
  const ref = await credentials.put("team-a", "aws", { KEY: "the-key" });
  expect(await credentials.delete("team-a", "aws")).toBe(true);
  expect(await credentials.delete("team-a", "aws")).toBe(false);
  expect(await credentials.current("team-a", "aws")).toBeUndefined();
  expect(await credentials.keepUsed(new Set([writeRef(ref)]), later())).toBe(0);
  expect(await credentials.open(ref)).toEqual({ KEY: "the-key" });
  expect(await credentials.keepUsed(new Set(), Date.now())).toBe(0); // A request may be under way.
  expect(await credentials.keepUsed(new Set(), later())).toBe(1);
  expect(await credentials.open(ref)).toBeUndefined();
  expect(await vault.list("retired-credentials")).toEqual([]);
  // The number is not used for another value while anything may still name it.
  expect((await credentials.put("team-a", "aws", { KEY: "x" })).version).toBe(1);
});

test("references survive their text form, and others are not one", () => {
  const ref = { space: "team-a", name: "aws", version: 12 };
  expect(readRef(writeRef(ref))).toEqual(ref);
  expect(readRef(writeRef({ ...ref, space: "" }))).toEqual({ ...ref, space: "" });
  for (const text of ["", "aws", "a/b", "a/b#0", "a/b#x", "a/b/c#1", "/#1"]) {
    expect(readRef(text)).toBeUndefined();
  }
});
