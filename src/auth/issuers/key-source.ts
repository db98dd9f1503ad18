/** Reads the public keys of an issuer: over HTTP or from a file. */
import { open } from "node:fs/promises";
import type { JWK } from "jose";
import type { IssuerSpec } from "../issuer-spec.ts";
import { isProtectedUrl } from "../protected-url.ts";
import { isClaims } from "./claims.ts";
import { issuerLimits } from "./limits.ts";

/** Throws an error whose message says what is wrong, for the log. */
export async function readKeys({ issuer, proof }: IssuerSpec): Promise<readonly JWK[]> {
  const late = AbortSignal.timeout(issuerLimits.fetchMs);
  switch (proof.type) {
    case "discovery":
      return publicKeysOf(await fetchJson(await discoverKeysUrl(issuer, late), late));
    case "keys-url":
      return publicKeysOf(await fetchJson(proof.url, late));
    case "keys-file":
      return publicKeysOf(parseJson(await readDocument(proof.path)));
    case "token-review":
      throw new Error("Cannot read keys: a Kubernetes API server verifies these tokens");
  }
}

async function discoverKeysUrl(issuer: string, late: AbortSignal): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const document = await fetchJson(url, late);
  const { issuer: named, jwks_uri: keysUrl } = isClaims(document) ? document : {};
  if (named !== issuer) throw new Error(`${url} is about another issuer: ${JSON.stringify(named)}`);
  if (typeof keysUrl !== "string") throw new Error(`${url} has no jwks_uri`);
  return keysUrl;
}

async function fetchJson(url: string, late: AbortSignal): Promise<unknown> {
  if (!isProtectedUrl(url)) throw new Error(`${url} is neither https nor on this machine`);
  const response = await fetch(url, {
    // A Kubernetes API server answers 406 to a caller that accepts JSON only.
    headers: { accept: "application/json, application/jwk-set+json" },
    redirect: "error",
    signal: late,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} answered with status ${response.status}`);
  }
  return parseJson(await readBounded(response.body ?? []));
}

async function readDocument(path: string): Promise<string> {
  await using file = await open(path);
  const end = issuerLimits.documentBytesMax;
  return await readBounded(file.createReadStream({ end, autoClose: false }));
}

async function readBounded(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<string> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > issuerLimits.documentBytesMax) {
      throw new Error(`the document has more than ${issuerLimits.documentBytesMax} bytes`);
    }
    read.push(chunk);
  }
  return Buffer.concat(read).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error("the document is not JSON", { cause: error });
  }
}

const publicKinds = ["RSA", "EC", "OKP"];

/**
 * Returns the keys that can verify a signature. A symmetric or private key was published by mistake,
 * so a signature with it proves nothing, and the key is left out.
 */
export function publicKeysOf(document: unknown): readonly JWK[] {
  const { keys } = isClaims(document) ? document : {};
  if (!Array.isArray(keys)) throw new Error("the document has no list of keys");
  if (keys.length > issuerLimits.keysMax) {
    throw new Error(`the document has more than ${issuerLimits.keysMax} keys`);
  }
  const usable = keys.filter(isPublicKey);
  if (usable.length === 0) throw new Error("the document has no public key");
  return usable;
}

function isPublicKey(key: unknown): key is JWK {
  if (!isClaims(key)) return false;
  return publicKinds.includes(String(key["kty"])) && !("d" in key) && !("k" in key);
}
