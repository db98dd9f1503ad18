/**
 * Whether a host name means the machine itself. Names are parsed, never compared by their start:
 * `127.evil.example` is an ordinary name that anyone can register.
 */

/** The host name of a `Host` header, or undefined if the header is malformed. */
export function hostnameOfHeader(header: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(header)) return undefined;
  return hostnameOfUrl(`http://${header}/`);
}

/** The host name of an address, without brackets or a final dot; undefined if it has none. */
export function hostnameOfUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname } = new URL(text);
  const name = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return name === "" ? undefined : name;
}

/** Takes a name in the form that `URL` gives it: IPv4 in four decimal parts, IPv6 shortened. */
export function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackIp(name);
}

/** Takes the address of a socket: `127.0.0.1`, `::1` or `::ffff:127.0.0.1`. */
export function isLoopbackAddress(address: string): boolean {
  const host = address.includes(":") ? `[${address}]` : address;
  const name = hostnameOfHeader(host);
  return name !== undefined && isLoopbackIp(name);
}

export function isIpAddress(name: string): boolean {
  return name.includes(":") || /^\d+(?:\.\d+){3}$/.test(name);
}

function isLoopbackIp(name: string): boolean {
  return (
    name === "::1" ||
    /^127(?:\.\d{1,3}){3}$/.test(name) ||
    // `URL` writes ::ffff:127.0.0.1 in hexadecimal.
    /^::ffff:7f[\da-f]{2}:[\da-f]{1,4}$/.test(name)
  );
}
