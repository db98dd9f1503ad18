/** Who can reach the server, and what is missing to make that safe. */
import type { AuthSpec } from "../auth/auth-spec.ts";
import { loadConfig } from "../config/load.ts";
import type { AllowedCallers } from "../http/allowed-callers.ts";
import {
  cannotBeReachable,
  type ListenAddress,
  parseListenAddress,
  reachable,
} from "./listen-address.ts";
import type { ServeOptions } from "./main.ts";

/** The address for which the configuration must have `auth`; undefined: it may do without. */
export function addressThatNeedsAuth(options: ServeOptions): ListenAddress | undefined {
  if (options.insecureListen) return undefined;
  return reachable(addresses(options.listen, options.healthListen, options.metricsListen));
}

/** Checked before anything starts. A file with errors is reported later, when it is used. */
export async function checkReachable(configFile: string, address: ListenAddress): Promise<void> {
  const parsed = await loadConfig(configFile);
  if (parsed.ok && parsed.auth === undefined) throw cannotBeReachable(address);
}

export function allowedCallers(options: ServeOptions): AllowedCallers {
  const listens = addresses(options.listen, options.metricsListen).map(({ host }) => host);
  const publicHost = options.publicUrl === undefined ? [] : [new URL(options.publicUrl).hostname];
  return { listens, hosts: [...(options.allowHosts ?? []), ...publicHost] };
}

/** What an operator should change about how the server is reached. */
export function exposureWarnings(
  { listen, metricsListen, tls, trustProxies }: ServeOptions,
  auth: AuthSpec | undefined,
): readonly string[] {
  const open = reachable(addresses(listen, metricsListen));
  const isSafe = tls !== undefined || trustProxies !== undefined;
  const hasRules = auth?.certificates !== undefined;
  const asks = tls?.clientCa !== undefined;
  return [
    ...(auth === undefined || isSafe || open === undefined
      ? []
      : [`Tokens travel unencrypted to ${open.host}:${open.port} (${addTls})`]),
    ...(hasRules && !asks ? [rulesUnused] : []),
    ...(asks && !hasRules ? [certificatesUnused] : []),
  ];
}

const addTls =
  "start the server with --tls-cert and --tls-key, or with --trust-proxy if a proxy adds TLS";
const rulesUnused =
  "auth.certificates changes nothing: the server asks for no certificates " +
  "(start it with --tls-client-ca FILE)";
const certificatesUnused =
  "--tls-client-ca changes nothing: no rule says who shows which certificate " +
  "(write auth.certificates)";

function addresses(...texts: readonly (string | undefined)[]): ListenAddress[] {
  return texts.flatMap((text) => (text === undefined ? [] : parseListenAddress(text)));
}
