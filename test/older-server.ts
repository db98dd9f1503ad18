/** Stands before a server and leaves out of every answer what one of an older version does not tell. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface OlderServer extends AsyncDisposable {
  readonly url: string;
}

export async function olderServer(url: string, unknown: readonly string[]): Promise<OlderServer> {
  const server = createServer(async (request, response) => {
    const answer = await fetch(new URL(request.url ?? "", url));
    const told: unknown = JSON.parse(await answer.text(), (key, value) =>
      unknown.includes(key) ? undefined : value,
    );
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(told));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
