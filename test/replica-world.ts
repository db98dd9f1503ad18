/** Several servers as processes on one journal, each behind a proxy to the database. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Replicas } from "../src/api/replica-schemas.ts";
import { berthPath, Process } from "./cli-processes.ts";
import { TcpProxy } from "./tcp-proxy.ts";

export interface ReplicaProcess {
  readonly name: string;
  readonly url: string;
  readonly process: Process;
  /** Between this server and the database. */
  readonly database: TcpProxy;
  /** Between the other servers and this one. */
  readonly relay: TcpProxy;
}

export interface WorldOptions {
  /** The port of the database, and the address of the journal through another port. */
  readonly port: number;
  readonly address: (port: number) => string;
  readonly config: object;
  readonly environment?: (index: number) => NodeJS.ProcessEnv;
  readonly flags?: (index: number) => readonly string[];
  /** Another version of Berth; absent: this one. */
  readonly program?: (index: number) => string;
}

const jsonHeaders = { "content-type": "application/json" };

export class ReplicaWorld implements AsyncDisposable {
  readonly folder: string;
  readonly #options: WorldOptions;
  readonly #all: ReplicaProcess[] = [];
  #port: number;

  private constructor(folder: string, options: WorldOptions) {
    this.folder = folder;
    this.#options = options;
    this.#port = options.port;
  }

  static async start(count: number, options: WorldOptions): Promise<ReplicaWorld> {
    const folder = await mkdtemp(join(tmpdir(), "berth-replicas-"));
    await writeFile(join(folder, "berth.yaml"), JSON.stringify(options.config));
    const world = new ReplicaWorld(folder, options);
    await Promise.all(Array.from({ length: count }, (_, index) => world.add(index)));
    await world.leader();
    return world;
  }

  get replicas(): readonly ReplicaProcess[] {
    return this.#all.filter(({ process: { child } }) => {
      return child.exitCode === null && child.signalCode === null;
    });
  }

  async add(index: number, listen = "127.0.0.1:0"): Promise<ReplicaProcess> {
    const { address, environment, flags, program } = this.#options;
    const database = await TcpProxy.start(this.#port);
    const relay = await TcpProxy.start(0);
    const own = environment?.(index) ?? {};
    const args = [
      ...["serve", "--config", join(this.folder, "berth.yaml")],
      ...["--data", join(this.folder, `data-${index}-${Math.random()}`), "--listen", listen],
      ...["--advertise", `http://127.0.0.1:${relay.port}`],
      ...(flags?.(index) ?? []),
    ];
    const env = { ...process.env, BERTH_JOURNAL: address(database.port), ...own };
    const started = new Process(program?.(index) ?? berthPath, args, env);
    const [, url = ""] = await started.says(/ at (https?:[^\s"]+)/);
    relay.target = Number(new URL(url).port);
    const replica = { name: `replica ${index}`, url, process: started, database, relay };
    this.#all.push(replica);
    return replica;
  }

  /** From now on the database is at this port. */
  moveDatabase(port: number): void {
    this.#port = port;
    for (const { database } of this.#all) {
      database.target = port;
      database.cutAll();
    }
  }

  /** All connections work, nobody is paused, and so many run. */
  async restore(count: number): Promise<void> {
    for (const { process: running, database, relay } of this.replicas) {
      database.mode = "open";
      relay.mode = "open";
      running.signal("SIGCONT");
    }
    while (this.replicas.length < count) await this.add(this.#all.length);
    const isReady = async ({ url }: ReplicaProcess) => {
      const response = await fetch(`${url}/readyz`).catch(() => undefined);
      return response?.status === 200;
    };
    while (!(await Promise.all(this.replicas.map(isReady))).every(Boolean)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Resolves once one of them leads and says so itself. */
  async leader(among: readonly ReplicaProcess[] = this.replicas): Promise<ReplicaProcess> {
    for (;;) {
      for (const replica of among) {
        const found = await this.standing(replica);
        if (found !== undefined && found.leader === found.self) return replica;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async followers(): Promise<readonly ReplicaProcess[]> {
    const leader = await this.leader();
    return this.replicas.filter((replica) => replica !== leader);
  }

  async standing({ url }: ReplicaProcess): Promise<Replicas | undefined> {
    try {
      const signal = AbortSignal.timeout(1_000);
      const response = await fetch(`${url}/v1/replicas`, { signal });
      return response.ok ? ((await response.json()) as Replicas) : undefined;
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process: running, database, relay } of this.#all) {
      if (running.child.exitCode === null && running.child.signalCode === null) {
        running.signal("SIGCONT");
        running.signal("SIGKILL");
      }
      await running.ended;
      await database[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** One call. Throws if the connection fails. */
export async function call(
  { url }: Pick<ReplicaProcess, "url">,
  line: string,
  options: { body?: unknown; token?: string; timeoutMs?: number } = {},
): Promise<Answer> {
  const [method = "GET", path = "/"] = line.split(" ");
  const { body, token, timeoutMs = 30_000 } = options;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(body === undefined ? undefined : jsonHeaders),
      ...(token === undefined ? undefined : { authorization: `Bearer ${token}` }),
    },
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? undefined : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, body: parsed };
}

/** Asks for one resource, again with the same id until there is an outcome. */
export async function acquire(
  replica: Pick<ReplicaProcess, "url">,
  requestId: string,
  pool: string,
  wait = "0s",
): Promise<Answer> {
  const body = { holder: requestId, requestId, items: [{ pool }], wait };
  for (;;) {
    const answer = await call(replica, "POST /v1/leases", { body }).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
