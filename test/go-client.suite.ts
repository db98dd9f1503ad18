/**
 * A client of Boskos's as its own library for Go behaves: it tries everything up to four times with
 * longer and longer pauses, polls where it waits, remembers what it holds, and keeps its connections.
 */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";

export interface BoskosResource {
  readonly type: string;
  readonly name: string;
  readonly state: string;
  readonly owner: string;
  readonly lastupdate: string;
  readonly userdata: Readonly<Record<string, string>>;
}

export const notFound = "resources not found";
export const typeNotFound = "resource type not found";
export const alreadyInUse = "resources already used by another user";
export const noResourceHeld = "no holding resource";

/** The pauses after the first, second and third failure. */
const pausesMs = [1_000, 4_000, 9_000];
const pollMs = 3_000;

interface Reply {
  readonly status: number;
  readonly reason: string;
  readonly text: string;
}

export class GoClient implements Disposable {
  readonly owner: string;
  /** Set: a type that nobody knows is told apart from one of which nothing is free. */
  distinguishTypes = false;
  /** Every pause that it made, in milliseconds as Go would have made it. */
  readonly pauses: number[] = [];
  /** How many calls went over a connection that had been used before. */
  reused = 0;
  readonly #address: () => { host: string; port: number };
  readonly #agent = new Agent({ keepAlive: true, timeout: 90_000 });
  readonly #held = new Map<string, BoskosResource>();
  /** How much shorter than in life its pauses are. */
  readonly #hurry: number;

  constructor(url: string | (() => string), owner: string, hurry = 1_000) {
    this.owner = owner;
    this.#hurry = hurry;
    this.#address = () => {
      const { hostname, port } = new URL(typeof url === "string" ? url : url());
      return { host: hostname, port: Number(port) };
    };
  }

  get held(): readonly string[] {
    return [...this.#held.keys()];
  }

  acquire(type: string, state: string, dest: string, id?: string): Promise<BoskosResource> {
    const query = {
      type,
      state,
      dest,
      owner: this.owner,
      ...(id ? { request_id: id } : undefined),
    };
    return this.#acquired(query);
  }

  /** Polls until there is one, or until the signal aborts, at which it looks between polls only. */
  async acquireWait(
    type: string,
    state: string,
    dest: string,
    { signal, id = randomUUID() }: { signal?: AbortSignal; id?: string } = {},
  ): Promise<BoskosResource> {
    for (;;) {
      try {
        return await this.acquire(type, state, dest, id);
      } catch (error) {
        const { message } = error as Error;
        if (message !== notFound && message !== alreadyInUse) throw error;
      }
      if (signal?.aborted) throw new Error("context deadline exceeded");
      await this.#sleep(pollMs);
    }
  }

  async acquireByState(
    state: string,
    dest: string,
    names: readonly string[],
  ): Promise<BoskosResource[]> {
    const query = { state, dest, owner: this.owner, names: names.join(",") };
    const text = await this.#final("/acquirebystate", query);
    const resources = JSON.parse(text) as BoskosResource[];
    for (const resource of resources) this.#held.set(resource.name, resource);
    return resources;
  }

  async releaseOne(name: string, dest: string): Promise<void> {
    if (!this.#held.delete(name)) throw new Error(`no resource name ${name}`);
    await this.release(name, dest);
  }

  async releaseAll(dest: string): Promise<void> {
    if (this.#held.size === 0) throw new Error(noResourceHeld);
    for (const name of this.held) await this.releaseOne(name, dest);
  }

  async updateOne(
    name: string,
    state: string,
    userData?: Readonly<Record<string, string>>,
  ): Promise<void> {
    if (!this.#held.has(name)) throw new Error(`no resource name ${name}`);
    await this.update(name, state, userData);
  }

  async syncAll(): Promise<void> {
    for (const { name, state } of this.#held.values()) await this.update(name, state);
  }

  async release(name: string, dest: string): Promise<void> {
    await this.#insist("POST", "/release", { name, dest, owner: this.owner }, `releasing ${name}`);
  }

  async update(
    name: string,
    state: string,
    userData?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const body = userData === undefined ? undefined : `${JSON.stringify(userData)}\n`;
    const query = { name, owner: this.owner, state };
    await this.#insist("POST", "/update", query, `updating ${name}`, body);
  }

  async reset(
    type: string,
    state: string,
    expire: string,
    dest: string,
  ): Promise<Record<string, string>> {
    const query = { type, state, expire, dest };
    return JSON.parse(await this.#insist("POST", "/reset", query, "resetting")) as Record<
      string,
      string
    >;
  }

  async metric(
    type: string,
  ): Promise<{ current: Record<string, number>; owner: Record<string, number> }> {
    return JSON.parse(await this.#insist("GET", "/metric", { type }, "metric")) as never;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #acquired(query: Readonly<Record<string, string>>): Promise<BoskosResource> {
    const resource = JSON.parse(await this.#final("/acquire", query)) as BoskosResource;
    if (Number.isNaN(Date.parse(resource.lastupdate))) throw new Error("parsing time");
    this.#held.set(resource.name, resource);
    return resource;
  }

  /** Of an acquire 200, 401 and 404 are final; anything else is tried again. */
  #final(path: string, query: Readonly<Record<string, string>>): Promise<string> {
    return this.#retry(async () => {
      const { status, reason, text } = await this.#send("POST", path, query);
      if (status === 200) return { done: text };
      if (status === 401) return { failed: alreadyInUse };
      if (status !== 404) throw new Error(`status ${status} ${reason}, status code ${status}`);
      const unknown = /resource type ".*" does not exist/s.test(text);
      return { failed: this.distinguishTypes && unknown ? typeNotFound : notFound };
    });
  }

  /** Of all else only 200 is final. */
  #insist(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    what: string,
    body?: string,
  ): Promise<string> {
    return this.#retry(async () => {
      const { status, reason, text } = await this.#send(method, path, query, body);
      if (status === 200) return { done: text };
      throw new Error(`status ${status} ${reason}, statusCode ${status} ${what}`);
    });
  }

  async #retry(
    attempt: () => Promise<{ readonly done: string } | { readonly failed: string }>,
  ): Promise<string> {
    const errors = new Set<string>();
    for (let failures = 0; ; failures++) {
      const pauseMs = pausesMs[failures];
      try {
        const result = await attempt();
        if ("done" in result) return result.done;
        return Promise.reject(new Error(result.failed));
      } catch (error) {
        errors.add((error as Error).message);
      }
      if (pauseMs === undefined) throw new Error([...errors].join(", "));
      await this.#sleep(pauseMs);
    }
  }

  #sleep(durationMs: number): Promise<void> {
    this.pauses.push(durationMs);
    return new Promise((resolve) => setTimeout(resolve, durationMs / this.#hurry));
  }

  /** Parameters sorted by key; a heartbeat says that it is JSON, also where it has no body. */
  #send(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    body = "",
  ): Promise<Reply> {
    const parameters = new URLSearchParams(query);
    parameters.sort();
    return new Promise((resolve, reject) => {
      const call = request({
        ...this.#address(),
        method,
        path: `${path}?${parameters}`,
        agent: this.#agent,
        headers: {
          ...(method === "POST" ? { "content-length": Buffer.byteLength(body) } : undefined),
          ...(path === "/update" ? { "content-type": "application/json" } : undefined),
          "user-agent": "Go-http-client/1.1",
        },
      });
      call.once("error", reject);
      call.once("response", (response) => {
        if (call.reusedSocket) this.reused += 1;
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.once("error", reject);
        response.once("close", () => {
          if (!response.complete) return reject(new Error("unexpected EOF"));
          const { statusCode: status = 0, statusMessage: reason = "" } = response;
          resolve({ status, reason, text });
        });
      });
      call.end(body === "" ? undefined : body);
    });
  }
}
