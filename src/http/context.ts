import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { ConfigStatus } from "../api/schemas.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { SignIn } from "../auth/sign-in/sign-in.ts";
import type { Broker } from "../broker/broker.ts";
import type { Tokens } from "../broker/lease-identity.ts";
import type { Deliveries } from "../broker/submit-and-wait.ts";
import type { ClusterLogs } from "../evidence/cluster-logs.ts";
import type { StatsService } from "../insight/stats-service.ts";
import type { Journal } from "../journal/journal.ts";
import type { SecretStores } from "../vault/secret-stores.ts";
import type { AllowedCallers } from "./allowed-callers.ts";
import type { HubClusters } from "./clusters/hub-clusters.ts";
import type { TemplateInfo } from "./clusters/template-info.ts";
import type { TemplateReports } from "./clusters/template-reports.ts";
import type { AdmissionFigures } from "./metrics/admission-metrics.ts";
import type { MirrorFigures } from "./metrics/mirror-metrics.ts";
import type { Proxies } from "./proxies.ts";
import type { Peers } from "./relay/peers.ts";

/** What every route has at hand: the broker and the parts around it. */
export interface Context {
  readonly broker: Broker;
  readonly journal: Pick<Journal, "read">;
  readonly tokens: Tokens;
  readonly auth: Authenticator;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** The address that people use, as an origin; absent: the one that their browser names. */
  readonly publicUrl?: string;
  readonly deliveries: Deliveries;
  readonly insight: StatsService;
  /** Secrets of clusters and of spaces. */
  readonly vault: SecretStores;
  /** The templates of clusters in the configuration in force. */
  readonly templates: () => readonly TemplateInfo[];
  readonly clusterLogs: Pick<ClusterLogs, "of" | "put">;
  /** What workers have found on the hubs. */
  readonly hubClusters: HubClusters;
  /** What provisioners lack for their templates. */
  readonly templateReports: TemplateReports;
  readonly configStatus: () => ConfigStatus;
  /** The state of the mirror in Kubernetes; undefined while there is none. */
  readonly mirror?: () => MirrorFigures | undefined;
  /** What the admission checks of pools have found. */
  readonly admission?: () => AdmissionFigures | undefined;
  /** What the workers of this server lack; undefined while there are none. */
  readonly troubles?: () => WorkerTroubles;
  /** How far the broker's time is ahead of the clock of the machine; negative: behind it. */
  readonly clockAheadMs?: () => number;
  readonly version: string;
  /** When this server began, for texts that count from then. */
  readonly startedAtMs: number;
  readonly boskos: BoskosSettings;
  readonly callers: AllowedCallers;
  /** Proxies in front of the server; absent: none. */
  readonly proxies?: Proxies;
  /** Whether calls can be served; absent: as long as the journal can be written. */
  readonly isReady?: () => boolean;
  /** Whether traces of calls are exported; absent: no. */
  readonly isTraced?: boolean;
  /** Other servers on the same journal; absent: the journal is this server's own. */
  readonly peers?: Peers;
}

interface Lack {
  readonly name: string;
  readonly why: string;
}

export interface WorkerTroubles {
  /** API servers whose objects cannot be served. */
  readonly fronts: readonly Lack[];
  /** API servers whose name another installation of Berth uses. */
  readonly takenFronts: readonly Lack[];
}

/** How Boskos's calls are answered. */
export interface BoskosSettings {
  /** How long a client that polls keeps its place in the queue after each call. */
  readonly requestTtlMs: number;
  /** How long its call is held open when nothing is free. */
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
