import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { BerthClient } from "../../client/berth-client.ts";
import { ClientWork } from "./client-work.ts";
import type { ClusterFacts } from "./cluster-work.ts";

test("putLentAccess() is understood by a server that does not know lastsSeconds", async () => {
  const stored: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Object(await json(request));
    if ("lastsSeconds" in body) {
      const problem = { code: "invalid_request", title: "unknown field", status: 400 };
      response.writeHead(400, { "content-type": "application/problem+json" });
      response.end(JSON.stringify(problem));
      return;
    }
    stored.push(body);
    response.writeHead(204).end();
  };
  const older = createServer((request, response) => void answer(request, response));
  await once(older.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void older.close());
  const url = `http://127.0.0.1:${(older.address() as AddressInfo).port}`;
  const work = new ClientWork(new BerthClient({ url }), "worker");
  const cluster = { resource: "ocp-1", instance: "ocp-1.7" } as ClusterFacts;
  const bundle = { kubeconfig: "kind: Config" };
  await work.putLentAccess(cluster, { bundle, fence: 3, lastsMs: 60_000 });
  expect(stored).toEqual([{ ...bundle, instance: "ocp-1.7", fence: 3 }]);
});
