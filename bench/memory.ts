/**
 * The memory of a large installation: 100,000 resources, and 10,000 jobs that wait on open
 * connections.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { type Running, scratchFolder, startBerth } from "./process.ts";

export interface MemoryRow {
  readonly what: string;
  readonly rssMiB: number;
  readonly heapMiB: number;
}

export async function benchMemory(resources: number, polls: number): Promise<MemoryRow[]> {
  const folder = scratchFolder();
  const berth = await startBerth(
    folder.path,
    `pools: { quota: { count: ${resources} }, scarce: { count: 1 } }`,
  );
  try {
    const idle = await memory(berth, `${resources} resources`);
    const sockets = await openPolls(berth, polls);
    const waiting = await memory(berth, `${resources} resources, ${polls} open long polls`);
    for (const socket of sockets) socket.destroy();
    return [idle, waiting];
  } finally {
    await berth.stop();
    folder.remove();
  }
}

async function openPolls(berth: Running, polls: number) {
  const body = JSON.stringify({ holder: "bench/1", items: [{ pool: "scarce" }], wait: "10m" });
  const request = `POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sockets = [];
  for (let count = 0; count < polls; count++) {
    const socket = connect({ port: berth.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(request);
  }
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${berth.port}/v1/pools/scarce`);
    const { waiting } = (await reply.json()) as { waiting: number };
    if (waiting >= polls - 1) return sockets;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function memory({ child }: Running, what: string): Promise<MemoryRow> {
  const reply = once(child, "message");
  child.send("memory");
  const [{ rss, heapUsed }] = (await reply) as [{ rss: number; heapUsed: number }];
  return { what, rssMiB: Math.round(rss / 2 ** 20), heapMiB: Math.round(heapUsed / 2 ** 20) };
}
