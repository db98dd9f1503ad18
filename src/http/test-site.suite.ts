/** A whole server but for the disk, the configuration file and the wall clock. */
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import type { InjectOptions } from "fastify";
import pino from "pino";
import { fingerprint } from "../../sim/invariants.ts";
import type { ProblemBody } from "../api/problem.ts";
import type { Lease, WaitingRequest } from "../api/schemas.ts";
import type { AuthSpec } from "../auth/auth-spec.ts";
import { Authenticator } from "../auth/authenticator.ts";
import { Sessions } from "../auth/sessions.ts";
import { SignIn } from "../auth/sign-in/sign-in.ts";
import { testTokens } from "../auth/test-tokens.suite.ts";
import { Broker } from "../broker/broker.ts";
import type { BrokerOptions } from "../broker/broker-contract.ts";
import { HandClock } from "../broker/hand-clock.suite.ts";
import { HandJournal } from "../broker/hand-journal.suite.ts";
import { Tokens } from "../broker/lease-identity.ts";
import { Deliveries } from "../broker/submit-and-wait.ts";
import type { PoolSpec } from "../core/model/policy.ts";
import type { Instant } from "../core/model/time.ts";
import { ClusterLogs } from "../evidence/cluster-logs.ts";
import { StatsService } from "../insight/stats-service.ts";
import { Redactor } from "../vault/redactor.ts";
import { type SecretStores, storesIn } from "../vault/secret-stores.ts";
import { SqliteVault } from "../vault/sqlite-vault.ts";
import type { AllowedCallers } from "./allowed-callers.ts";
import { makeApp } from "./app.ts";
import { HubClusters } from "./clusters/hub-clusters.ts";
import type { TemplateInfo } from "./clusters/template-info.ts";
import { TemplateReports } from "./clusters/template-reports.ts";
import { type App, defaultBoskosSettings } from "./context.ts";
import type { Proxies } from "./proxies.ts";
import type { Peers } from "./relay/peers.ts";
import { SecretSearch } from "./secret-search.suite.ts";
import { timestamp } from "./timestamp.ts";

export interface Answer {
  readonly status: number;
  /** The content type, without its parameters. */
  readonly type: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Undefined when the body is not JSON. */
  readonly body: unknown;
}

export interface Call {
  /** Sent as JSON; a string or a buffer is sent as it is. */
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the caller; this machine unless told. */
  readonly from?: string;
}

export interface TestSite extends AsyncDisposable {
  readonly clock: HandClock;
  readonly journal: HandJournal;
  readonly broker: Broker;
  readonly tokens: Tokens;
  readonly auth: Authenticator;
  readonly app: App;
  readonly insight: StatsService;
  readonly vault: SecretStores;
  /** Of the configuration; tests add to it. */
  readonly templates: TemplateInfo[];
  readonly clusterLogs: ClusterLogs;
  /** Everything that was logged so far. */
  readonly log: () => string;
  /** `call("POST /v1/leases", { body })`, without a socket. */
  call(line: string, call?: Call): Promise<Answer>;
  /** What the journal amounts to: equal before and after a call that changes nothing. */
  state(): Promise<string>;
  /** Listens on loopback and answers the address, for tests in which connections matter. */
  listen(): Promise<string>;
}

export async function testSite(
  pools: readonly PoolSpec[],
  options: Partial<BrokerOptions> = {},
  callers: AllowedCallers = { listens: ["127.0.0.1"], hosts: [] },
  auth?: AuthSpec,
  proxies?: Proxies,
  peers?: Peers,
): Promise<TestSite> {
  const journal = new HandJournal();
  const clock = new HandClock();
  const broker = await Broker.open(journal, () => clock, options);
  const tokens = new Tokens(journal.secret);
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  await broker.submit({ type: "configure", pools });
  const since = timestamp(clock.now());
  const status = { file: null, ok: true, inForceSince: since, checkedAt: since };
  const config = { ...status, pools: pools.length, resources: 0, problems: [], warnings: [] };
  const insight = new StatsService(journal, broker);
  const redactor = new Redactor();
  const authenticator = new Authenticator(auth, () => clock.now());
  const templates: TemplateInfo[] = [];
  const site = {
    deliveries: new Deliveries(broker),
    ...{ broker, journal, tokens, insight, configStatus: () => config, version: "0.0.0" },
    boskos: defaultBoskosSettings,
    callers,
    auth: authenticator,
    signIn: new SignIn(authenticator, journal.secret, () => clock.now()),
    sessions: new Sessions(journal.secret, () => clock.now()),
    ...(proxies && { proxies }),
    ...(peers && { peers }),
    startedAtMs: clock.now(),
    vault: storesIn(SqliteVault.inMemory(), redactor),
    templates: () => templates,
    clusterLogs: ClusterLogs.inMemory(redactor),
    hubClusters: new HubClusters(),
    templateReports: new TemplateReports(),
  };
  const search = new SecretSearch();
  const hooks = { streamWrite: (line: string) => redactor.clean(line) };
  const app = await makeApp(site, pino({ level: "trace", hooks }, sink));
  return {
    ...{ clock, journal, broker, tokens, auth: site.auth, app, insight, vault: site.vault },
    ...{ templates, clusterLogs: site.clusterLogs },
    log: () => lines.join(""),
    async call(line, call) {
      const answer = await inject(app, line, call);
      search.watchCall(call?.headers?.["authorization"], answer.body);
      search.watch(call?.token);
      return answer;
    },
    state: () => broker.read(fingerprint),
    async listen() {
      await app.listen({ host: "127.0.0.1", port: 0 });
      return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    },
    async [Symbol.asyncDispose]() {
      journal.open();
      // Unless the test has closed it before.
      const metrics = await inject(app, "GET /metrics", operator).then(
        ({ text }) => text,
        () => "",
      );
      app.server.closeAllConnections();
      const closed = broker.close();
      await app.close();
      await closed;
      await insight.close();
      search.check({
        log: lines.join(""),
        journal: JSON.stringify(journal.appends),
        metrics,
      });
    },
  };
}

/** Sees the metrics of a site with the usual tokens, and of one without authentication. */
const operator = { token: testTokens.operator };

async function inject(app: App, line: string, call: Call = {}): Promise<Answer> {
  const space = line.indexOf(" ");
  const { body, token, headers, from } = call;
  const raw = typeof body === "string" || Buffer.isBuffer(body);
  const response = await app.inject({
    method: line.slice(0, space) as NonNullable<InjectOptions["method"]>,
    url: line.slice(space + 1),
    headers: {
      ...(token === undefined ? undefined : { authorization: `Bearer ${token}` }),
      ...(raw ? { "content-type": "application/json" } : undefined),
      ...headers,
    },
    ...(body === undefined ? undefined : { payload: raw ? body : Object(body) }),
    ...(from === undefined ? undefined : { remoteAddress: from }),
  });
  const [type = ""] = String(response.headers["content-type"] ?? "").split(";");
  const parsed = /json/.test(type) && response.body !== "" ? response.json() : undefined;
  const { statusCode: status, body: text } = response;
  return { status, type, headers: response.headers, text, body: parsed };
}

export const asLease = ({ body }: Answer): Lease & { token: string } =>
  body as Lease & { token: string };
export const asRequest = ({ body }: Answer): WaitingRequest & { token: string } =>
  body as WaitingRequest & { token: string };
export const asProblem = ({ body }: Answer): ProblemBody => body as ProblemBody;

/** Asks for `wanted` ("aws gcp:2") as a job does; more fields may follow. */
export function askBody(wanted: string, more: object = {}): object {
  const items = wanted.split(" ").map((text) => {
    const [pool, count] = text.split(":");
    return count === undefined ? { pool } : { pool, count: Number(count) };
  });
  return { items, holder: "a job", ...more };
}

export function instantOf(text: string): Instant {
  return Date.parse(text) as Instant;
}

/** From Fastify's tree of routes to `GET /v1/leases/{id}`; HEAD comes with every GET. */
export function routesOf(tree: string): string[] {
  const path: string[] = [];
  return tree.split("\n").flatMap((line) => {
    const [, indent = "", part = "", methods = ""] = /^([│├└─ ]*)(\S+) \((.*)\)/u.exec(line) ?? [];
    if (part === "") return [];
    const depth = indent.length / 4;
    path.length = depth;
    path[depth - 1] = part;
    const whole = path.join("").replace(/:(\w+)/g, "{$1}");
    const named = methods.split(", ").filter((method) => method !== "HEAD");
    return named.map((method) => `${method} ${whole}`);
  });
}
