/** The flags of `berth serve` for TLS, and for a proxy that adds TLS in front of it. */
import { isIP } from "node:net";
import type { ServeOptions } from "../../server/main.ts";
import { usageError } from "../failure.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { fromEnvironment, InvalidValue, type Parse } from "../values.ts";

export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  readonly trustProxy?: readonly string[];
}

/** `10.0.0.7`, `10.0.0.0/8` or `2001:db8::/32`. */
const network: Parse<string> = (text) => {
  const [, address = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  if (family === 0 || Number(bits ?? 0) > bitsMax) {
    throw new InvalidValue(
      "it is not an address or a network",
      "Write it like 10.0.0.7 or 10.0.0.0/8",
    );
  }
  if (bits !== undefined && Number(bits) === 0) {
    const hint = "Name the addresses of the proxies only";
    throw new InvalidValue("every client could then choose its address", hint);
  }
  return text;
};

export const tlsOptions = [
  flag("--tls-cert <file>", "serve HTTPS with this certificate chain ($BERTH_TLS_CERT)"),
  flag("--tls-key <file>", "private key of the certificate ($BERTH_TLS_KEY)"),
  flag(
    "--tls-client-ca <file>",
    "ask clients for a certificate of these authorities ($BERTH_TLS_CLIENT_CA)",
  ),
  repeatedFlag(
    "--trust-proxy <cidr>",
    "believe X-Forwarded-For, -Proto and -Host from these addresses; repeatable",
    network,
  ),
];

const asWritten: Parse<string> = (text) => text;

export function tlsSettings(flags: TlsFlags): Pick<ServeOptions, "tls" | "trustProxies"> {
  const cert = flags.tlsCert ?? fromEnvironment("BERTH_TLS_CERT", asWritten);
  const key = flags.tlsKey ?? fromEnvironment("BERTH_TLS_KEY", asWritten);
  const clientCa = flags.tlsClientCa ?? fromEnvironment("BERTH_TLS_CLIENT_CA", asWritten);
  const { trustProxy } = flags;
  const proxies = trustProxy === undefined ? undefined : { trustProxies: trustProxy };
  if (cert !== undefined && key !== undefined) {
    return {
      tls: { cert, key, ...(clientCa === undefined ? undefined : { clientCa }) },
      ...proxies,
    };
  }
  const [given, missing] =
    cert === undefined ? ["--tls-key", "--tls-cert"] : ["--tls-cert", "--tls-key"];
  if (cert !== undefined || key !== undefined) {
    throw usageError(`Cannot use ${given}: ${missing} is missing`, `Add ${missing} FILE`);
  }
  if (clientCa !== undefined) {
    const state = "only a server with TLS can ask for certificates";
    throw usageError(`Cannot use --tls-client-ca: ${state}`, "Add --tls-cert FILE --tls-key FILE");
  }
  return { ...proxies };
}
