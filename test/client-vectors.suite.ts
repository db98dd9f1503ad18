/**
 * One set of vectors for all clients (`clients/vectors`): what a job asks for, what goes wrong on the way, and
 * how it must end. Each client runs each vector against a real server behind a proxy with faults.
 */
import { globSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, type ExpectStatic, expect, test } from "vitest";
import type { AskBody, Lease, WaitingRequest } from "../src/api/schemas.ts";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { BerthClient, type HeldLease } from "../src/client/berth-client.ts";
import { pause } from "../src/client/pause.ts";
import { type Process, TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";
import { type Fault, FaultProxy } from "./fault-proxy.ts";

const folder = fileURLToPath(new URL("../clients/vectors", import.meta.url));

type Moment = "waiting" | "working" | "polled twice";
type Action = "free" | "restart" | "terminate" | "remove" | "revoke" | "end" | "nothing";

/** What a client is told: the same for all of them. */
export interface VectorAsk {
  /** `account`, `account:2`, or `east,west` for any of these. */
  readonly pools: readonly string[];
  readonly holder?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly amounts?: Readonly<Record<string, number>>;
  readonly selector?: Readonly<Record<string, string>>;
  readonly priority?: number;
  readonly ttl?: string;
  readonly lifetime?: string;
  readonly requestId?: string;
  readonly timeout?: string;
  readonly connectTimeout?: string;
}

export interface Vector {
  readonly name: string;
  readonly ask: VectorAsk;
  /** Another holder has all of this pool. */
  readonly held?: string;
  readonly credentials?: "file" | "wrong" | "none";
  readonly faults?: readonly Fault[];
  readonly during?: readonly { readonly when: Moment; readonly do: Action }[];
  /** The work exits with this code, 0 unless given, after this time, at once unless given. */
  readonly work?: { readonly exit?: number; readonly forMs?: number };
  readonly want: {
    readonly exit: number;
    /** The code of the error, for clients that are libraries. */
    readonly error?: string;
    /** What the work got, in any order; absent: there was no work. */
    readonly resources?: readonly string[];
    /** The work was ended by the client. */
    readonly stopped?: true;
    readonly says?: string;
    readonly holder?: string;
    readonly lease?: Partial<Lease>;
    readonly calls?: Readonly<Record<string, number>>;
    readonly requestIds?: readonly string[];
    /** How often the server lent something to this client. */
    readonly grants?: number;
  };
}

/** One run of a client: what it asks for, and what its work does. */
export interface ClientRun {
  readonly ask: VectorAsk;
  readonly url: string;
  readonly work: { readonly exit: number; readonly forMs: number };
  /** BERTH_TOKEN or BERTH_TOKEN_FILE, if the vector has credentials. */
  readonly env: NodeJS.ProcessEnv;
  /** A file that the work writes when it has run to its end. */
  readonly doneFile: string;
}

export interface VectorClient {
  /** Prints `working RESOURCE…` when the work starts. Its exit code is that of `berth run`. */
  start(run: ClientRun): Process;
  /** The code of the error that it has reported; absent: it is a command, and has only exit codes. */
  errorOf?(ended: Process): string | null;
}

/** Every vector of every file. */
const vectors: readonly Vector[] = globSync("*.json", { cwd: folder })
  .sort()
  .flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Vector[]);

const operatorToken = "vectors-token-of-the-operator";
const holderToken = "vectors-token-of-the-holder";

const pools = {
  slot: { count: 1, ttl: "1m", lockDelay: "0s" },
  account: { members: ["a-1", "a-2"], ttl: "1m" },
  vsphere: { place: "least-used", members: { v1: { capacity: { vcpus: 8 } } } },
  labelled: {
    members: {
      "l-east": { labels: { region: "east" } },
      "l-west": { labels: { region: "west" } },
    },
  },
};

/** Servers for vectors that run at the same time: each has one for itself while it runs. */
class Servers implements AsyncDisposable {
  readonly #all: Promise<TestServer>[] = [];
  readonly #idle: Promise<TestServer>[] = [];

  async use(work: (server: TestServer) => Promise<void>): Promise<void> {
    const taken = this.#idle.pop() ?? this.#start();
    try {
      await work(await taken);
    } finally {
      this.#idle.push(taken);
    }
  }

  #start(): Promise<TestServer> {
    const tokens = [
      { name: "ops", sha256: tokenHash(operatorToken), space: "ops", role: "operator" },
      { name: "ci", sha256: tokenHash(holderToken), space: "ci", role: "holder" },
    ];
    const started = TestServer.startWith({ pools, auth: { tokens } });
    this.#all.push(started);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#all) await (await server)[Symbol.asyncDispose]();
  }
}

/** Runs all vectors. `unless` says why the client cannot run here. */
export function testVectors(client: VectorClient, unless: string | false = false): void {
  const servers = new Servers();
  beforeAll(async () => {
    for (const token of [operatorToken, holderToken]) await watchFor(token);
  });
  afterAll(() => servers[Symbol.asyncDispose]());

  test("there are vectors", () => {
    expect(vectors.length).toBeGreaterThan(35);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  describe.concurrent("the client", () => {
    const named = vectors.map((vector) => [vector.name, vector] as const);
    test.for(named)("%s", { timeout: 120_000 }, async ([, vector], { skip, expect }) => {
      if (unless) return skip(unless);
      await servers.use((server) => new VectorRun(server, client, vector, expect).check());
    });
  });
}

class VectorRun {
  readonly #server: TestServer;
  readonly #client: VectorClient;
  readonly #vector: Vector;
  readonly #expect: ExpectStatic;
  readonly #operator: BerthClient;
  #others: HeldLease | undefined;

  constructor(server: TestServer, client: VectorClient, vector: Vector, expectHere: ExpectStatic) {
    this.#expect = expectHere;
    this.#server = server;
    this.#client = client;
    this.#vector = vector;
    this.#operator = new BerthClient({ url: server.url, token: operatorToken });
  }

  async check(): Promise<void> {
    const { held, faults = [], want } = this.#vector;
    if (held !== undefined) {
      const body: AskBody = { items: [{ pool: held }], holder: "another", ttl: "10m" };
      this.#others = await this.#operator.acquire(body);
    }
    await using proxy = await FaultProxy.start(() => this.#server.url, faults);
    const doneFile = join(this.#server.folder, `done-${crypto.randomUUID()}`);
    const since = new Date().toISOString();
    const client = this.#client.start(await this.#run(proxy.url, doneFile));
    try {
      await this.#during(client, proxy);
      const leaseWhileWorking = await this.#leaseSeen(client);
      const code = await client.ended;
      const said = `\n${client.all}`;
      this.#expect(code, said).toBe(want.exit);
      this.#checkOutput(client, said);
      if (want.lease) this.#expect(leaseWhileWorking, said).toMatchObject(want.lease);
      if (want.holder) this.#expect(leaseWhileWorking?.holder, said).toBe(want.holder);
      const worked = await rm(doneFile).then(
        () => true,
        () => false,
      );
      this.#expect(worked, said).toBe(want.resources !== undefined && !want.stopped);
      this.#checkCalls(proxy, said);
      await this.#checkServer(since, said);
    } finally {
      client.signal("SIGKILL");
      await this.#clean();
    }
  }

  async #run(url: string, doneFile: string): Promise<ClientRun> {
    const { ask, credentials, work } = this.#vector;
    const tokenFile = join(this.#server.folder, "token");
    await writeFile(tokenFile, `${holderToken}\n`);
    const env =
      credentials === "file"
        ? { BERTH_TOKEN_FILE: tokenFile }
        : credentials === "none"
          ? {}
          : { BERTH_TOKEN: credentials === "wrong" ? "not-a-token-of-anybody" : holderToken };
    return {
      ask,
      url,
      env: {
        PATH: process.env["PATH"],
        HOME: this.#server.folder,
        TMPDIR: this.#server.folder,
        ...env,
      },
      work: { exit: work?.exit ?? 0, forMs: work?.forMs ?? 0 },
      doneFile,
    };
  }

  async #during(client: Process, proxy: FaultProxy): Promise<void> {
    for (const { when, do: action } of this.#vector.during ?? []) {
      if (when === "working") await client.says(/^working/m);
      else {
        await this.#until(client, async () => (await this.#waiting()).length > 0);
        const polled = () => proxy.count("GET /v1/requests/*") >= 2;
        if (when === "polled twice") await this.#until(client, async () => polled());
      }
      await this.#act(action, client);
    }
  }

  async #act(action: Action, client: Process): Promise<void> {
    const why = { reason: "a vector", by: "ops" };
    switch (action) {
      case "free":
        if (this.#others) await this.#operator.release(this.#others);
        this.#others = undefined;
        break;
      case "restart":
        await this.#server.stop("SIGKILL");
        await this.#server.start();
        break;
      case "terminate":
        client.signal("SIGTERM");
        break;
      case "remove":
        await this.#removeRequests();
        break;
      case "revoke":
      case "end":
        for (const { id } of await this.#leases()) {
          await this.#operator.revoke(id, { ...why, ...(action === "end" && { gone: true }) });
        }
        break;
      case "nothing":
    }
  }

  /** What the server shows of the lease while the work runs. */
  async #leaseSeen(client: Process): Promise<Lease | undefined> {
    const { lease, holder } = this.#vector.want;
    if (lease === undefined && holder === undefined) return undefined;
    await client.says(/^working/m);
    const [found] = await this.#leases();
    return found;
  }

  #checkOutput(client: Process, said: string): void {
    const { resources, error, says } = this.#vector.want;
    const [, list] = /^working (.*)$/m.exec(client.stdout) ?? [];
    this.#expect(list?.trim().split(/\s+/).sort(), said).toEqual(
      resources && [...resources].sort(),
    );
    if (says !== undefined) this.#expect(client.all).toContain(says);
    const reported = this.#client.errorOf?.(client);
    if (reported !== undefined) this.#expect(reported, said).toBe(error ?? null);
    this.#expect(client.all, "a token was printed").not.toContain(holderToken);
  }

  #checkCalls(proxy: FaultProxy, said: string): void {
    const { calls = {}, requestIds } = this.#vector.want;
    for (const [kind, count] of Object.entries(calls)) {
      this.#expect([kind, proxy.count(kind)], said).toEqual([kind, count]);
    }
    const asked = proxy.calls.filter(({ kind }) => kind === "POST /v1/leases");
    const ids = asked.map(({ body }) => (JSON.parse(body) as AskBody).requestId ?? "");
    this.#expect(new Set(ids).size, `request ids ${ids}${said}`).toBe(1);
    this.#expect(ids[0]).not.toBe("");
    if (requestIds) this.#expect([...new Set(ids)]).toEqual(requestIds);
  }

  /** Whatever happened, the client leaves nothing behind: no lease, no request. */
  async #checkServer(since: string, said: string): Promise<void> {
    this.#expect(await this.#waiting(), said).toEqual([]);
    const leases = (await this.#leases()).filter(({ revokedAt }) => revokedAt === null);
    this.#expect(leases, said).toEqual([]);
    const { grants } = this.#vector.want;
    if (grants === undefined) return;
    let ids: string[] = [];
    while (ids.length < grants) {
      // It is written a little after the lease has ended.
      const { items } = await this.#operator.history({ since });
      const granted = items.filter((item) => item.space === "ci" && item.grantedAt !== null);
      ids = [...new Set(granted.map(({ id }) => id))];
    }
    this.#expect(ids.length, said).toBe(grants);
  }

  async #leases(): Promise<Lease[]> {
    return (await this.#operator.everyLease()).filter(({ space }) => space === "ci");
  }

  async #waiting(): Promise<WaitingRequest[]> {
    return this.#operator.everyRequest();
  }

  async #until(client: Process, condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) {
      if (client.child.exitCode !== null) throw new Error(`It ended early:\n${client.all}`);
      await pause(20);
    }
  }

  /** For the next vector, also after this one has failed. */
  async #clean(): Promise<void> {
    if (this.#others) await this.#operator.release(this.#others);
    for (const { id } of await this.#operator.everyLease()) {
      await this.#operator.revoke(id, { reason: "a vector has ended", by: "ops", gone: true });
    }
    await this.#removeRequests();
  }

  async #removeRequests(): Promise<void> {
    for (const { id } of await this.#waiting()) {
      const address = `${this.#server.url}/v1/requests/${id}?force=true&reason=vector`;
      const headers = { authorization: `Bearer ${operatorToken}` };
      await fetch(address, { method: "DELETE", headers });
    }
  }
}
