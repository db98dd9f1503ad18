import type { Server as HttpServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isLoopbackAddress } from "../api/loopback.ts";
import { CannotServe, exitCodes } from "./cannot-serve.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:0` or `:8080`, which also means loopback. */
export function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new CannotServe(
      `Cannot listen on "${text}": it is not HOST:PORT`,
      "Write it like 127.0.0.1:8080 or [::1]:8080; port 0 takes any free one",
      exitCodes.usage,
    );
  }
  return { host: host === "" ? "127.0.0.1" : host, port: Number(port) };
}

/** The first address that other machines can reach. */
export function reachable(addresses: readonly ListenAddress[]): ListenAddress | undefined {
  return addresses.find(({ host }) => host !== "localhost" && !isLoopbackAddress(host));
}

/** Without authentication, anyone who can reach the port can acquire leases. */
export function cannotBeReachable({ host }: ListenAddress): CannotServe {
  return new CannotServe(
    `Cannot listen on ${host}: anyone who reaches it could acquire and release leases`,
    "Listen on 127.0.0.1, configure auth, or say --insecure-listen if the network itself keeps " +
      "others out",
    exitCodes.usage,
  );
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there",
  EACCES: "this user may not use that port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host",
};

/** Describes why the server cannot listen there; undefined if the error has another cause. */
export function describeListenError(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? listenErrors[String(error.code)] : undefined;
}

export type RawServer = HttpServer | HttpsServer;

/** The address of a server that listens. */
export function urlOf(server: RawServer): string {
  const { address, family, port } = server.address() as AddressInfo;
  const scheme = server instanceof HttpsServer ? "https" : "http";
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
