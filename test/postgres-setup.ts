import type { TestProject } from "vitest/node";
import {
  findPostgres,
  howToGetPostgres,
  PostgresServer,
  postgresRequired,
} from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The port of the server that all these tests share; 0: there is no PostgreSQL. */
    readonly postgresPort: number;
  }
}

/** One server for all tests, without waiting for the disk: no test of these cuts the power. */
const settings = ["fsync=off", "full_page_writes=off", "shared_buffers=32MB"];

export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (findPostgres() === undefined) {
    if (postgresRequired) throw new Error(howToGetPostgres);
    provide("postgresPort", 0);
    return undefined;
  }
  const server = await PostgresServer.start({ settings });
  provide("postgresPort", server.port);
  return () => server[Symbol.asyncDispose]();
}
