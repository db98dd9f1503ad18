/**
 * Polling Boskos clients in their own process: each waits for a resource of its type with a request
 * id, calls again after a pause, holds the resource for a while and releases it. Prints how long a
 * resource was free while a client of its type waited for it (`idle`), and how much of this time
 * the client had a call open (`open`). The rest is the client's own pause.
 *
 * All times are from one process: a resource counts as free when its release is sent. So the times
 * include the network in both directions and the cost of the release.
 */
import { Agent, request } from "node:http";

export interface PollingJob {
  readonly port: number;
  readonly clients: number;
  readonly types: readonly string[];
  readonly holdMs: number;
  readonly pollMs: number;
  readonly measureMs: number;
}

const job = JSON.parse(process.argv[2] ?? "{}") as PollingJob;
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
/** When each resource became free, by name. Without an entry it was free from the start. */
const freeSince = new Map<string, number>();
const idleMs: number[] = [];
const openMs: number[] = [];
let calls = 0;
const failures: string[] = [];
let over = false;

function call(path: string): Promise<{ status: number; text: string }> {
  calls += 1;
  return new Promise((resolve) => {
    const sent = request({ port: job.port, host: "127.0.0.1", method: "POST", path, agent });
    sent.once("error", ({ message }) => resolve({ status: 0, text: message }));
    sent.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end();
  });
}

const pause = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

async function client(number: number): Promise<void> {
  for (let turn = 1; !over; turn++) {
    const type = job.types[(number + turn * 7) % job.types.length] ?? "";
    const name = await obtain(type, `client-${number}`, `${number}-${turn}`);
    if (name === undefined) return;
    await pause(job.holdMs * (0.5 + Math.random()));
    freeSince.set(name, performance.now());
    const { status, text } = await call(`/release?name=${name}&dest=free&owner=client-${number}`);
    if (status !== 200 && !over) failures.push(text);
  }
}

async function obtain(type: string, owner: string, id: string): Promise<string | undefined> {
  const waitsSince = performance.now();
  const query = `type=${type}&state=free&dest=busy&owner=${owner}&request_id=${id}`;
  while (!over) {
    const calledAt = performance.now();
    const { status, text } = await call(`/acquire?${query}`);
    if (status === 200) {
      const { name } = JSON.parse(text) as { name: string };
      const now = performance.now();
      const idleSince = Math.max(waitsSince, freeSince.get(name) ?? 0);
      idleMs.push(now - idleSince);
      openMs.push(now - Math.max(idleSince, calledAt));
      return name;
    }
    if (status !== 404 && !over) failures.push(text);
    await pause(job.pollMs);
  }
  return undefined;
}

const clients = Array.from({ length: job.clients }, (_, number) => client(number));
await pause(job.measureMs / 2);
// All clients start at once. Only the time after this start counts.
idleMs.length = 0;
openMs.length = 0;
calls = 0;
await pause(job.measureMs / 2);
over = true;
const grants = idleMs.length;
const at = (timesMs: number[], share: number) =>
  timesMs.toSorted((a, b) => a - b)[Math.min(grants - 1, Math.floor(grants * share))] ?? Number.NaN;
const seconds = job.measureMs / 2_000;
process.stdout.write(
  JSON.stringify({
    callsPerSecond: Math.round(calls / seconds),
    grantsPerSecond: Math.round(grants / seconds),
    openP50Ms: at(openMs, 0.5),
    openP99Ms: at(openMs, 0.99),
    idleP50Ms: at(idleMs, 0.5),
    idleP99Ms: at(idleMs, 0.99),
    idleMaxMs: at(idleMs, 1),
    failures,
  }),
  () => process.exit(0),
);
void clients;
