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
const acquire = Buffer.from(
  `POST /v1/leases HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
);
let replies = 0;
let failures = 0;
const latenciesUs: number[] = [];
let measuring = false;

function worker(): Socket {
  const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true });
  let buffered = "";
  let sentAt = 0;
  const send = (bytes: Buffer | string): void => {
    sentAt = performance.now();
    socket.write(bytes);
  };
  socket.setEncoding("latin1");
  socket.on("connect", () => send(acquire));
  socket.on("data", (chunk: string) => {
    buffered = buffered === "" ? chunk : buffered + chunk;
    const headEnd = buffered.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const status = buffered.slice(9, 12);
    const length = status === "204" ? 0 : Number(/content-length: (\d+)/i.exec(buffered)?.[1] ?? 0);
    if (buffered.length < headEnd + 4 + length) return;
    const text = buffered;
    buffered = "";
    if (measuring) {
      replies += 1;
      if (replies % 16 === 0) latenciesUs.push((performance.now() - sentAt) * 1_000);
    }
    if (status === "201") {
      const id = field(text, '"id":"', headEnd);
      const token = field(text, '"token":"', headEnd);
      send(
        `DELETE /v1/leases/${id} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
    } else {
      if (status !== "204") failures += 1;
      send(acquire);
    }
  });
  return socket;
}

function field(text: string, name: string, from: number): string {
  const start = text.indexOf(name, from) + name.length;
  return text.slice(start, text.indexOf('"', start));
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
