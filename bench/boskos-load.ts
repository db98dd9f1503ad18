/**
 * Load as Boskos's clients make it, from its own process: so many keep-alive connections, each of which
 * takes a resource of a type and gives it back by name, over and over. The counterpart of
 * `load-client.ts`, and like it raw bytes on raw sockets.
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
const call = (path: string) => `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n\r\n`;
const nameField = Buffer.from('"name":"');
const quote = '"'.charCodeAt(0);
const ok = Buffer.from("200");
let replies = 0;
let failures = 0;
const latenciesUs: number[] = [];
let measuring = false;

function worker(_: unknown, index: number): Socket {
  const owner = `bench-${index}`;
  const acquire = call(`/acquire?type=${job.pool}&state=free&dest=busy&owner=${owner}`);
  let sentAt = 0;
  const send = (text: string): void => {
    sentAt = performance.now();
    socket.write(text, "latin1");
  };
  const answered = (_size: number, buffer: Uint8Array): boolean => {
    const reply = buffer as Buffer;
    if (measuring) {
      replies += 1;
      if (replies % 16 === 0) latenciesUs.push((performance.now() - sentAt) * 1_000);
    }
    const start = reply.indexOf(nameField);
    if (!reply.subarray(9, 12).equals(ok)) failures += 1;
    if (start < 0) {
      send(acquire);
    } else {
      const from = start + nameField.length;
      const name = reply.toString("latin1", from, reply.indexOf(quote, from));
      // The buffer is used again: what it holds now must not be found in the next, shorter reply.
      reply.fill(0);
      send(call(`/release?name=${name}&dest=free&owner=${owner}`));
    }
    return true;
  };
  const onread = { buffer: Buffer.alloc(2 * 1024), callback: answered };
  const socket = connect({ port: job.port, host: "127.0.0.1", noDelay: true, onread });
  socket.on("connect", () => send(acquire));
  return socket;
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
