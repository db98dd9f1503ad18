import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { ConfigStatus } from "../api/schemas.ts";
import type { Broker } from "../broker/broker.ts";
import type { Tokens } from "../broker/tokens.ts";
import type { Journal } from "../journal/journal.ts";

/** What the routes are served from. */
export interface Site {
  readonly broker: Broker;
  readonly journal: Pick<Journal, "read">;
  readonly tokens: Tokens;
  readonly configStatus: () => ConfigStatus;
  readonly version: string;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
