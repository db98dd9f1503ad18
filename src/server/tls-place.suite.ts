/** A folder with the files of a server, and servers that run in this process with them. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, type ServeOptions, serve } from "./main.ts";
import type { TestCertificate } from "./test-certificates.suite.ts";

export class TlsPlace implements AsyncDisposable {
  readonly folder: string;
  readonly #running: Running[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(config = "pools: { aws: { count: 1, lockDelay: 0s } }"): Promise<TlsPlace> {
    const place = new TlsPlace(await mkdtemp(join(tmpdir(), "berth-tls-")));
    await writeFile(place.path("berth.yaml"), config);
    return place;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async write({ cert, key }: TestCertificate): Promise<void> {
    await this.replace("cert.pem", cert);
    await this.replace("key.pem", key);
  }

  async replace(name: string, text: string): Promise<void> {
    await writeFile(this.path(`${name}.new`), text);
    await rename(this.path(`${name}.new`), this.path(name));
  }

  async start(more: Partial<ServeOptions> = {}, withTls = true): Promise<Running> {
    const server = await serve({
      config: this.path("berth.yaml"),
      data: this.path("data"),
      memory: true,
      listen: "127.0.0.1:0",
      insecureListen: false,
      logLevel: "silent",
      ...(withTls && { tls: { cert: this.path("cert.pem"), key: this.path("key.pem") } }),
      ...more,
    });
    this.#running.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#running.map((server) => server.stop()));
    await rm(this.folder, { recursive: true });
  }
}
