/**
 * Load from its own process: so many keep-alive connections, each of which takes a lease and gives
 * it back, over and over, for so long. Raw sockets, because a convenient client costs more than the
 * server that it measures.
 *
 * Started with the job as JSON in its first argument; prints the result as JSON.
 */
import { connect, type Socket } from "node:net";

interface Job {
  readonly port: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly pool: string;
}

const job = JSON.parse(process.argv[2] ?? "{}") as Job;
const body = JSON.stringify({ holder: "bench/1", items: [{ pool: job.pool }] });
const acquire = `POST /v1/leases HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
let replies = 0;
let failures = 0;
const latenciesUs: number[] = [];
let measuring = false;

const bodyStart = Buffer.from("\r\n\r\n");
const idField = Buffer.from('"id":"');
const tokenField = Buffer.from('"token":"');
const quote = '"'.charCodeAt(0);
const [created, noContent] = ["201", "204"].map((status) => Buffer.from(status));

/**
 * Reads into one buffer and looks at bytes. What the load costs comes out of the same machine, and
 * while a batch commits the server waits for it: so it must be small beside what it measures.
 */
function worker(): Socket {
  let sentAt = 0;
  const send = (text: string): void => {
    sentAt = performance.now();
    socket.write(text, "latin1");
  };
  const answered = (size: number, buffer: Uint8Array): boolean => {
    const reply = buffer as Buffer;
    if (measuring) {
      replies += 1;
      if (replies % 16 === 0) latenciesUs.push((performance.now() - sentAt) * 1_000);
    }
    if (has(reply, created)) {
      const body = reply.indexOf(bodyStart);
      const id = field(reply, idField, body);
      const token = field(reply, tokenField, body);
      if (token === "" || size < body) throw new Error("Cannot go on: a reply came in pieces");
      send(release(id, token));
    } else {
      if (!has(reply, noContent)) failures += 1;
      send(acquire);
    }
    return true;
  };
  const onread = { buffer: Buffer.alloc(16 * 1024), callback: answered };
  const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true, onread });
  socket.on("connect", () => send(acquire));
  return socket;
}

function has(reply: Buffer, status: Buffer | undefined): boolean {
  return reply[9] === status?.[0] && reply[10] === status?.[1] && reply[11] === status?.[2];
}

function field(reply: Buffer, name: Buffer, from: number): string {
  const start = reply.indexOf(name, from) + name.length;
  return reply.toString("latin1", start, reply.indexOf(quote, start));
}

function release(id: string, token: string): string {
  return `DELETE /v1/leases/${id} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

const sockets = Array.from({ length: job.connections }, worker);
setTimeout(() => {
  measuring = true;
  const startedAt = performance.now();
  setTimeout(() => {
    const elapsedMs = performance.now() - startedAt;
    latenciesUs.sort((a, b) => a - b);
    const at = (share: number) =>
      Math.round(latenciesUs[Math.floor(latenciesUs.length * share)] ?? 0);
    process.stdout.write(
      JSON.stringify({
        perSecond: Math.round((replies * 1_000) / elapsedMs),
        failures,
        p50Us: at(0.5),
        p99Us: at(0.99),
      }),
    );
    for (const socket of sockets) socket.destroy();
  }, job.measureMs);
}, job.warmUpMs);
