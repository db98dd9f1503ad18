import { isUtf8 } from "node:buffer";
import type { RequestListener } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import fastify, { type FastifyBaseLogger, LogController, type RawServerDefault } from "fastify";
import Type from "typebox";
import { limits } from "../api/limits.ts";
import { Problem } from "../api/problem.ts";
import { BrokerClosed } from "../broker/broker-contract.ts";
import { checkCallers } from "./allowed-callers.ts";
import { arrivalTimeouts } from "./arrival.ts";
import { attentionRoute } from "./attention/route.ts";
import { auditRoute } from "./audit.ts";
import { authorizeCalls } from "./authorize.ts";
import { BoskosMetrics } from "./boskos/metrics.ts";
import { boskosRoutes } from "./boskos/routes.ts";
import { answerCallIds, callIds, logCalls } from "./call-id.ts";
import { clientScriptRoute } from "./client-script.ts";
import { clusterApi } from "./clusters/routes.ts";
import { documentCommonProblems } from "./common-problems.ts";
import { compressAnswers } from "./compression.ts";
import type { App, Context } from "./context.ts";
import { documentRoutes } from "./docs.ts";
import {
  answerClientError,
  answerFrameworkErrors,
  answerUnknownPaths,
  handleErrors,
} from "./errors.ts";
import { eventRoutes } from "./event-feed.ts";
import { flowRoutes } from "./flow-routes.ts";
import { guidePages } from "./guide-pages.ts";
import { healthRoutes } from "./health.ts";
import { historyRoutes } from "./history.ts";
import { leaseProxyRoutes } from "./lease-proxy/routes.ts";
import { leaseRoutes } from "./leases.ts";
import { answerLines } from "./lines.ts";
import { makeMetrics } from "./metrics/metrics.ts";
import { Page } from "./page.ts";
import { pastEventsRoute } from "./past-events.ts";
import { planRoutes } from "./plan.ts";
import { poolChangesRoute } from "./pool-changes.ts";
import { poolRoutes } from "./pools.ts";
import { readForwarded } from "./proxies.ts";
import { questionShares } from "./questions.ts";
import { Relay } from "./relay/relay.ts";
import { replicaRoutes } from "./replicas.ts";
import { requestRoutes } from "./requests.ts";
import { resourceRoutes } from "./resources.ts";
import { compilersFactory } from "./schema-compilers.ts";
import { searchRoute } from "./search.ts";
import { sessionRoutes } from "./session.ts";
import { signInRoutes } from "./sign-in.ts";
import { spaceRoutes } from "./spaces.ts";
import { traceCalls } from "./trace-calls.ts";
import { trendRoute } from "./trends.ts";
import { whoamiRoute } from "./whoami.ts";

/** Longer than the 90 s for which Go's clients pool a connection, so that they never reuse a dead one. */
const keepAliveTimeoutMs = 120_000;

/** Read and compressed once per process; another build of it is served after a restart. */
let builtPage: Promise<Page> | undefined;

/** Makes a server for TLS. Without it the framework makes one for plain HTTP. */
export type MakeServer = (answer: RequestListener) => RawServerDefault;

/** All routes over one broker. It does not listen yet. Requests are not logged one by one. */
export async function makeApp(
  context: Context,
  logger: FastifyBaseLogger,
  makeServer?: MakeServer,
): Promise<App> {
  builtPage ??= Page.load();
  const page = await builtPage;
  const app: App = fastify({
    loggerInstance: withoutChildLoggers(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: callIds(),
    bodyLimit: limits.bodyBytesMax,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: arrivalTimeouts.requestTimeout,
    http: arrivalTimeouts,
    forceCloseConnections: "idle",
    return503OnClosing: false, // Its answer has no code; `refuseWhileStopping` has one.
    frameworkErrors: answerFrameworkErrors(page),
    clientErrorHandler: answerClientError,
    ...(makeServer && {
      serverFactory: (answer: RequestListener) => withTimeouts(makeServer(answer)),
    }),
    routerOptions: { maxParamLength: limits.nameLengthMax },
    schemaController: { compilersFactory },
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: true,
        verbose: true,
      },
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  answerCallIds(app);
  refuseWhileStopping(app);
  logCalls(app);
  acceptJson(app);
  const relay = context.peers && new Relay(context.peers);
  handleErrors(app, relay);
  readForwarded(app, context);
  if (context.isTraced) traceCalls(app);
  checkCallers(app, context.callers);
  relay?.addHook(app);
  authorizeCalls(app, context);
  documentCommonProblems(app);
  compressAnswers(app);
  answerLines(app);
  refuseUnknownParameters(app);
  await documentRoutes(app, context.version);
  await guidePages(app);
  page.routes(app);
  await clientScriptRoute(app, context);
  apiRoutes(app, context);
  const registry = makeMetrics(context);
  healthRoutes(app, context, registry);
  const boskosMetrics = new BoskosMetrics(context.broker, registry);
  await app.register(async (scope: App) => {
    boskosRoutes(scope, context, boskosMetrics, relay);
    answerUnknownPaths(scope, page);
  });
  await app.register((scope: App) => leaseProxyRoutes(scope, context, relay));
  await app.ready();
  return app;
}

/** Calls that arrive on open connections after the server has begun to stop. */
function refuseWhileStopping(app: App): void {
  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  app.addHook("onRequest", (_request, _reply, done) =>
    done(isStopping ? new BrokerClosed("Cannot answer: the server is stopping") : undefined),
  );
}

function apiRoutes(app: App, context: Context): void {
  leaseRoutes(app, context);
  flowRoutes(app, context);
  requestRoutes(app, context);
  poolRoutes(app, context);
  poolChangesRoute(app, context);
  resourceRoutes(app, context);
  const questions = questionShares(context);
  clusterApi(app, context, questions);
  spaceRoutes(app, context);
  eventRoutes(app, context);
  pastEventsRoute(app, context, questions);
  historyRoutes(app, context, questions);
  auditRoute(app, context, questions);
  planRoutes(app, context);
  whoamiRoute(app, context);
  sessionRoutes(app, context);
  signInRoutes(app, context);
  trendRoute(app, context);
  replicaRoutes(app, context);
  searchRoute(app, context);
  attentionRoute(app, context);
}

const noParameters = Type.Object({}, { additionalProperties: false });

/**
 * A call without parameters of its own refuses all, so that nobody believes that `?wait=5s` had an effect.
 * Boskos's calls ignore unknown ones.
 */
function refuseUnknownParameters(app: App): void {
  app.addHook("onRoute", (route) => {
    if (!route.url.startsWith("/v1/")) return;
    route.schema = { querystring: noParameters, ...route.schema };
  });
}

/** The framework sets these only on a server that it has made itself. */
function withTimeouts(server: RawServerDefault): RawServerDefault {
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.headersTimeout = arrivalTimeouts.headersTimeout;
  server.requestTimeout = arrivalTimeouts.requestTimeout;
  server.setTimeout(0);
  return server;
}

/**
 * The framework makes a child logger for every request. We log nothing with it, and making one takes
 * longer than the decision. So the first child, which has the serialisers, is used for all requests. The
 * framework's option for this, a logger factory, is slower: it checks the methods of every child.
 */
function withoutChildLoggers(logger: FastifyBaseLogger): FastifyBaseLogger {
  const child: FastifyBaseLogger["child"] = (...args) => {
    const itself = logger.child(...args);
    return Object.assign(itself, { child: () => itself });
  };
  return Object.create(logger, { child: { value: child } });
}

/**
 * JSON, and an empty body as none: clients send the content type with a heartbeat that has no body.
 * The parser's own message quotes the text around the mistake, which may be a secret, so only the
 * position is passed on.
 */
function acceptJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(notJson("not UTF-8"));
    try {
      done(null, JSON.parse(bytes.toString()));
    } catch (cause) {
      done(notJson(cause));
    }
  });
}

function notJson(cause: unknown): Problem {
  const position = /position (\d+)/.exec(String(cause))?.[1];
  const where = position === undefined ? "" : ` at position ${position}`;
  return new Problem({
    code: "invalid_json",
    status: 400,
    message: `Cannot read the body: it is not JSON${where}`,
    hint: "Send one JSON object in UTF-8",
  });
}
