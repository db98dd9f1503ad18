import { expect, test } from "vitest";
import type { SecretSource } from "../../config/template-spec.ts";
import { SecretHashStore } from "../../vault/secret-hash-store.ts";
import { SqliteVault } from "../../vault/sqlite-vault.ts";
import { SecretHashes } from "./secret-hashes.ts";

const source: SecretSource = { from: "secret", namespace: "keys", name: "aws", key: "access" };

/** Servers that share a vault, and a Secret that the test changes. */
class World {
  readonly store = new SecretHashStore(SqliteVault.inMemory());
  secret: string | undefined;
  reads = 0;
  nowMs = 1_000_000;

  server(): SecretHashes {
    return new SecretHashes(this.store, {
      now: () => this.nowMs,
      read: async () => {
        this.reads += 1;
        if (this.secret === undefined) throw new Error("there is no such Secret");
        return this.secret;
      },
    });
  }

  async look(server: SecretHashes): Promise<string> {
    this.nowMs += 10_000;
    await server.refresh([source]);
    return server.hashOf(source);
  }
}

test("a Secret counts as changed only if it differs from what was read first", async () => {
  const world = new World();
  const server = world.server();
  expect(await world.look(server)).toBe("");
  world.secret = "one";
  expect(await world.look(server), "it was made after the configuration").toBe("");
  world.secret = "two";
  const two = await world.look(server);
  expect(two).not.toBe("");
  expect(two).not.toContain("two");
  world.secret = "three";
  expect(await world.look(server)).not.toBe(two);
  world.secret = undefined;
  expect(await world.look(server), "it is gone, and may come back").not.toBe("");
  world.secret = "one";
  expect(await world.look(server), "as it was at first").toBe("");
});

test("other servers, and a server after a restart, agree about what was first", async () => {
  const world = new World();
  world.secret = "one";
  const first = world.server();
  await world.look(first);
  world.secret = "two";
  const changed = await world.look(first);
  expect(await world.look(world.server())).toBe(changed);
  world.secret = undefined;
  expect(await world.look(world.server()), "while nobody can read it").toBe(changed);
});

test("a Secret is read every ten seconds, however often somebody asks", async () => {
  const world = new World();
  world.secret = "one";
  const server = world.server();
  await Promise.all([server.refresh([source, source]), server.refresh([source])]);
  await server.refresh([source]);
  expect(world.reads).toBe(1);
  await world.look(server);
  expect(world.reads).toBe(2);
});

test("without a vault a change is still noticed, and told", async () => {
  const causes: unknown[] = [];
  let secret = "one";
  let nowMs = 1_000_000;
  const store = { load: () => Promise.reject("no key"), save: () => Promise.reject("no key") };
  const server = new SecretHashes(store, {
    now: () => nowMs,
    read: async () => secret,
    failed: (cause) => causes.push(cause),
  });
  await server.refresh([source]);
  secret = "two";
  nowMs += 10_000;
  await server.refresh([source]);
  expect(server.hashOf(source)).not.toBe("");
  expect(causes).toContain("no key");
});
