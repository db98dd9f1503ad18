import { CannotServe, exitCodes } from "./cannot-serve.ts";

const hint = "Name the address of this server for the others: --advertise http://HOST:PORT";
/** Hosts that stand for all addresses of the machine. */
const wildcards = new Set(["0.0.0.0", "[::]"]);

/** Throws `CannotServe` if it is not an address that another server can call. */
export function checkAdvertise(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const state = (() => {
    if (url?.protocol !== "http:" && url?.protocol !== "https:") return "it is not an http(s) URL";
    if (url.username !== "" || url.password !== "") return "it has a user or a password";
    if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return "it has a path";
    return wildcards.has(url.hostname) ? "it stands for all addresses of a machine" : undefined;
  })();
  if (url !== undefined && state === undefined) return url.origin;
  throw new CannotServe(`Cannot advertise the address: ${state}`, hint, exitCodes.usage);
}

/** Where other servers reach this one. */
export function advertisedUrl(
  { advertise }: { readonly advertise?: string },
  listening: string,
): string {
  return checkAdvertise(advertise ?? listening);
}
