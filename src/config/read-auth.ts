import type { AuthSpec } from "../auth/auth-spec.ts";
import { defaultFloodLimits, type FloodLimitsSpec } from "../auth/flood-limits.ts";
import type { Principal } from "../auth/principal.ts";
import type { TokenSpec } from "../auth/static-tokens.ts";
import type { ConfigDocument, Spot } from "./document.ts";
import { authTokensMax, floodLimitMax } from "./limits.ts";
import { readAccess, requireKeys } from "./read-access.ts";
import { readCertificates } from "./read-certificates.ts";
import { readIssuers } from "./read-issuers.ts";
import { textOf } from "./read-mirror.ts";
import {
  type Entry,
  listOf,
  optionalNumber,
  readKnown,
  scalarOf,
  withinLimit,
} from "./read-values.ts";
import { Anonymous, Auth, FloodLimits, Token } from "./schema-auth.ts";
import { expiryKind, nameKind, sha256Kind } from "./text-kinds.ts";

const expected = { title: "map of who may call", hint: "write { tokens: [...] }" };
const tokenExpected = {
  title: "token",
  hint: "write { name: ci, sha256: ..., space: ci, role: holder }, as berth token new prints it",
};
const anonymousExpected = { title: "map", hint: "write { space: public, role: viewer }" };

/** Undefined where there is none, or, with the reason in the source, if it cannot be used. */
export function readAuth(document: ConfigDocument, field: Entry | undefined): AuthSpec | undefined {
  if (field === undefined) return undefined;
  const fields = readKnown(document, field.value, Object.keys(Auth.properties), expected);
  if (fields === undefined) return undefined;
  const tokens = readTokens(document, fields.get("tokens"));
  const anonymous = readAnonymous(document, fields.get("anonymous"));
  const issuers = readIssuers(document, fields.get("issuers"));
  const limits = readLimits(document, fields.get("limits"));
  const certificates = readCertificates(document, fields.get("certificates"));
  return {
    ...{ tokens, issuers },
    ...(certificates.length === 0 ? undefined : { certificates }),
    ...(anonymous === undefined ? undefined : { anonymous }),
    ...(limits === undefined ? undefined : { limits }),
  };
}

const limitsExpected = { title: "map of limits", hint: "write { requestsPerSecond: 200 }" };

function readLimits(
  document: ConfigDocument,
  field: Entry | undefined,
): FloodLimitsSpec | undefined {
  if (field === undefined) return undefined;
  const keys = Object.keys(FloodLimits.properties);
  const fields = readKnown(document, field.value, keys, limitsExpected);
  if (fields === undefined) return undefined;
  const number = (key: string) =>
    optionalNumber(document, fields.get(key), { min: 1, max: floodLimitMax });
  const whole = (key: string) =>
    optionalNumber(document, fields.get(key), { min: 1, max: floodLimitMax, whole: true });
  const { requests, failures } = defaultFloodLimits;
  const perMinute = number("failuresPerMinute");
  return {
    requests: {
      perSecond: number("requestsPerSecond") ?? requests.perSecond,
      burst: whole("requestsBurst") ?? requests.burst,
    },
    failures: {
      perSecond: perMinute === undefined ? failures.perSecond : perMinute / 60,
      burst: whole("failuresBurst") ?? failures.burst,
    },
  };
}

function readTokens(document: ConfigDocument, field: Entry | undefined): readonly TokenSpec[] {
  const spots = listOf(document, field?.value, "list of tokens");
  const size = { count: spots.length, max: authTokensMax, of: "tokens" };
  if (field !== undefined && !withinLimit(document, field.at, size)) return [];
  const lineByHash = new Map<string, number>();
  return spots.flatMap((spot) => {
    const token = readToken(document, spot);
    if (token === undefined) return [];
    const line = lineByHash.get(token.sha256);
    if (line !== undefined) {
      const state = `line ${line} has the same sha256`;
      document.source.refuse(spot, state, "give each token a hash of its own");
    }
    lineByHash.set(token.sha256, document.source.lineOf(spot));
    return [token];
  });
}

function readToken(document: ConfigDocument, spot: Spot): TokenSpec | undefined {
  const fields = readKnown(document, spot, Object.keys(Token.properties), tokenExpected);
  if (fields === undefined) return undefined;
  requireKeys(document, spot, fields, ["name", "sha256", "space", "role"], tokenExpected.hint);
  const name = textOf(document, fields, "name", nameKind);
  const sha256 = readHash(document, fields.get("sha256"));
  const access = readAccess(document, fields);
  const expires = textOf(document, fields, "expires", expiryKind);
  if (name === undefined || sha256 === undefined || access === undefined) return undefined;
  return {
    ...{ name, sha256, ...access },
    ...(expires === undefined ? undefined : { expiresAtMs: Date.parse(expires) }),
  };
}

/** The message does not repeat the value, which may be the token itself. */
function readHash({ source }: ConfigDocument, field: Entry | undefined): string | undefined {
  const value = field && scalarOf(field.value);
  if (field === undefined || sha256Kind.accepts(value)) return value as string | undefined;
  if (String(value).startsWith("berth_")) {
    const hint = "make a new one with berth token new, and write its hash here";
    source.refuse(field.value, "it is the token itself, which is exposed now", hint);
  } else source.refuse(field.value, `it is not a ${sha256Kind.title}`, sha256Kind.hint);
  return undefined;
}

function readAnonymous(document: ConfigDocument, field: Entry | undefined): Principal | undefined {
  if (field === undefined) return undefined;
  const keys = Object.keys(Anonymous.properties);
  const fields = readKnown(document, field.value, keys, anonymousExpected);
  if (fields === undefined) return undefined;
  requireKeys(document, field.value, fields, keys, anonymousExpected.hint);
  const access = readAccess(document, fields);
  if (access === undefined) return undefined;
  if (access.role === "operator" || access.role === "admin") {
    const state = `anyone who reaches the server would be ${access.role}`;
    document.source.warn(field.value, state, "give this role to tokens instead");
  }
  return { name: "anonymous", ...access, proof: "none" };
}
