/** A hub that answers nonsense. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApiServer } from "../../kubernetes/api-server.ts";
import { Retry } from "../driver.ts";
import { HubApi } from "./hub-api.ts";
import { secretKind } from "./kind.ts";

async function hubThatSays(text: string): Promise<HubApi> {
  const server = createServer((_, reply) => reply.end(text)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const folder = await mkdtemp(join(tmpdir(), "berth-hub-api-"));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  const address = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  const kubeconfig = join(folder, "config");
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [{ name: "c", cluster: address }],
    users: [{ name: "u", user: { token: "t" } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return new HubApi(() => ApiServer.connect({ kubeconfig }));
}

const many = Array.from({ length: 70_000 }, () => ({}));

test.each<[string, unknown]>([
  ["no list", {}],
  ["a list that is a text", { items: "none", metadata: {} }],
  ["a list that never ends", { items: many, metadata: { continue: "again" } }],
])("list() tries again later after %s", async (_, answer) => {
  const hub = await hubThatSays(JSON.stringify(answer));
  const listed = hub.list(secretKind);
  await expect(listed).rejects.toThrow(Retry);
  await expect(listed).rejects.toThrow("Cannot list Secret: the hub did not answer with a list");
});

test("list() takes a list that is longer than it asked for", async () => {
  const hub = await hubThatSays(JSON.stringify({ items: [...many, ...many, ...many.slice(1)] }));
  expect(await hub.list(secretKind)).toHaveLength(209_999);
});
