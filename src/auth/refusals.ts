import { Problem } from "../api/problem.ts";
import type { Principal } from "./principal.ts";
import { type Action, roleFor } from "./roles.ts";

/** The caller has sent nothing that proves who it is. */
export function credentialsMissing(): Problem {
  return new Problem({
    code: "unauthenticated",
    status: 401,
    message: "Cannot tell who is calling: the call has no credentials",
    hint: "Send Authorization: Bearer TOKEN; with the command line set BERTH_TOKEN or BERTH_TOKEN_FILE",
  });
}

/** The caller has sent no token, and its client certificate is not accepted. */
export function certificateRefused(why: string): Problem {
  return new Problem({
    code: "unauthenticated",
    status: 401,
    message: `Cannot tell who is calling: the client certificate is not accepted, because ${why}`,
    hint: "Use a client certificate that is valid for this server, or send a token",
  });
}

export const unknownToken = "this server does not know them";

/** The credentials are not valid. The message never has a part of them. */
export function refuseCredentials(why: string): Problem {
  return new Problem({
    code: "unauthenticated",
    status: 401,
    message: `Cannot accept the credentials: ${why}`,
    hint: "Use a token that is valid now, or ask an operator of the server for one",
  });
}

/** The caller is known, but its role does not allow the call. */
export function forbidden({ name, role }: Principal, action: Action): Problem {
  const needed = roleFor(action);
  return new Problem({
    code: "forbidden",
    status: 403,
    message: `Cannot do this as "${name}": it has the role ${role}, and this call needs ${needed}`,
    hint: `Use credentials with the role ${needed}, or ask the operators of the server for it`,
    facts: { role, needed },
  });
}

/** The caller is known to an issuer, but no rule gives it a role here. */
export function noRule(name: string, issuer: string): Problem {
  return new Problem({
    code: "forbidden",
    status: 403,
    message: `Cannot do this as "${name}": no rule of the issuer ${issuer} matches its claims`,
    hint: "Ask an admin of the server for a rule in auth.issuers that matches them",
    facts: { issuer },
  });
}

/** A rule matches, but with the claims of this token it names no space or no caller. */
export function unusableClaim(
  { name, issuer, key, template }: Readonly<Record<"name" | "issuer" | "key" | "template", string>>,
  state: string,
): Problem {
  return new Problem({
    code: "forbidden",
    status: 403,
    message: `Cannot do this as "${name}": its rule has ${key} "${template}", and ${state}`,
    hint: `Ask an admin of the server for a rule in auth.issuers with another ${key}`,
    facts: { issuer },
  });
}

/** Nobody can tell now whether the credentials are valid. */
export function issuerUnavailable(issuer: string): Problem {
  return new Problem({
    code: "issuer_unavailable",
    status: 503,
    message: `Cannot check the credentials: the server gets no answer of the issuer ${issuer}`,
    hint: "Try again in a moment. Operators: the log has the cause",
    facts: { issuer },
  });
}
