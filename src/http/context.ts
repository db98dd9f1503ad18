import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { ConfigStatus } from "../api/schemas.ts";
import type { Broker } from "../broker/broker.ts";
import type { Deliveries } from "../broker/deliveries.ts";
import type { Tokens } from "../broker/tokens.ts";
import type { StatsService } from "../insight/stats-service.ts";
import type { Journal } from "../journal/journal.ts";
import type { AdmissionFigures } from "./metrics/admission-metrics.ts";
import type { MirrorFigures } from "./metrics/mirror-metrics.ts";

/** What the routes are served from. */
export interface Site {
  readonly broker: Broker;
  readonly journal: Pick<Journal, "read">;
  readonly tokens: Tokens;
  readonly deliveries: Deliveries;
  readonly insight: StatsService;
  readonly configStatus: () => ConfigStatus;
  /** How the mirror in Kubernetes fares; undefined while there is none. */
  readonly mirror?: () => MirrorFigures | undefined;
  /** What was found by those who look whether pools may be lent. */
  readonly admission?: () => AdmissionFigures | undefined;
  readonly version: string;
  /** When this server began, for texts that count from then. */
  readonly startedAtMs: number;
  readonly boskos: BoskosSettings;
}

/** How Boskos's calls are answered. */
export interface BoskosSettings {
  /** For so long after each call one that polls keeps its place in line. */
  readonly requestTtlMs: number;
  /** For so long its call is held open when nothing is free. */
  readonly waitMs: number;
}

export const defaultBoskosSettings: BoskosSettings = { requestTtlMs: 30_000, waitMs: 2_000 };

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
