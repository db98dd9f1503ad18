/** The flags of `berth serve` for where it listens, and under which names it is called. */
import type { ServeOptions } from "../../server/main.ts";
import { flag, repeatedFlag } from "../flags.ts";
import { fromEnvironment, hostName, origin, type Parse } from "../values.ts";

export interface AddressFlags {
  readonly listen?: string;
  readonly insecureListen?: boolean;
  readonly allowHost?: readonly string[];
  readonly publicUrl?: string;
  readonly healthListen?: string;
  readonly metricsListen?: string;
}

const asWritten: Parse<string> = (text) => text;
const hostNames: Parse<readonly string[]> = (text) => text.split(",").map((each) => hostName(each));

export const addressOptions = [
  flag("--listen <host:port>", "address to listen on ($BERTH_LISTEN, else 127.0.0.1:8080)"),
  flag("--insecure-listen", "allow an address beyond loopback without authentication"),
  repeatedFlag(
    "--allow-host <name>",
    "another name that clients use for the server; repeatable ($BERTH_ALLOW_HOST, with commas)",
    hostName,
  ),
  flag(
    "--public-url <url>",
    "address that people use, if a proxy is in front; for sign-in ($BERTH_PUBLIC_URL)",
    origin,
  ),
];

export const sideAddressOptions = [
  flag(
    "--health-listen <host:port>",
    "also serve /healthz and /healthz/ready on this address ($BERTH_HEALTH_LISTEN)",
  ),
  flag(
    "--metrics-listen <host:port>",
    "also serve /metrics on this address ($BERTH_METRICS_LISTEN)",
  ),
];

type AddressSettings = Pick<
  ServeOptions,
  "allowHosts" | "healthListen" | "insecureListen" | "listen" | "metricsListen" | "publicUrl"
>;

export function addressSettings(given: AddressFlags): AddressSettings {
  const publicUrl = given.publicUrl ?? fromEnvironment("BERTH_PUBLIC_URL", origin);
  const healthListen = given.healthListen ?? fromEnvironment("BERTH_HEALTH_LISTEN", asWritten);
  const metricsListen = given.metricsListen ?? fromEnvironment("BERTH_METRICS_LISTEN", asWritten);
  return {
    listen: given.listen ?? fromEnvironment("BERTH_LISTEN", asWritten) ?? "127.0.0.1:8080",
    insecureListen: given.insecureListen ?? false,
    allowHosts: given.allowHost ?? fromEnvironment("BERTH_ALLOW_HOST", hostNames) ?? [],
    ...(publicUrl === undefined ? undefined : { publicUrl }),
    ...(healthListen === undefined ? undefined : { healthListen }),
    ...(metricsListen === undefined ? undefined : { metricsListen }),
  };
}
