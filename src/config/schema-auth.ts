/** Who may call the server, and as what. */
import Type from "typebox";
import { authTokensMax, floodLimitMax } from "./limits.ts";
import { Certificates } from "./schema-certificates.ts";
import { Name } from "./schema-fields.ts";
import { Issuers } from "./schema-issuers.ts";
import { RoleName } from "./schema-role.ts";

export const Sha256 = Type.String({
  title: "SHA-256",
  pattern: "^[0-9a-f]{64}$",
  description: "The hash of the token, as berth token new prints it. The token is in no file.",
});

export const ExpiryTime = Type.String({
  title: "time",
  pattern:
    "^\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d\\d:\\d\\d))?$",
  description: "A date or a time with its zone. From then on the token is refused.",
  examples: ["2027-01-31", "2027-01-31T12:00:00Z"],
});

const access = {
  space: Type.String({
    ...Name,
    description: "The space that the leases of the caller belong to.",
  }),
  role: RoleName,
};

export const Token = Type.Object(
  {
    name: Type.String({ ...Name, description: "Recorded with everything that the token does." }),
    sha256: Sha256,
    ...access,
    expires: Type.Optional(ExpiryTime),
  },
  { title: "token", additionalProperties: false },
);

export const Anonymous = Type.Object(access, {
  title: "map with space and role",
  description: "What callers without credentials may do. Without it they are refused.",
  additionalProperties: false,
  examples: [{ space: "public", role: "viewer" }],
});

export const FloodLimits = Type.Object(
  {
    requestsPerSecond: Type.Optional(
      Type.Number({
        ...{ title: "number", minimum: 1, maximum: floodLimitMax },
        description:
          "How many calls one caller may send per second, on average. 1,000 unless given.",
      }),
    ),
    requestsBurst: Type.Optional(
      Type.Integer({
        ...{ title: "whole number", minimum: 1, maximum: floodLimitMax },
        description: "How many calls one caller may send at once. 10,000 unless given.",
      }),
    ),
    failuresPerMinute: Type.Optional(
      Type.Number({
        ...{ title: "number", minimum: 1, maximum: floodLimitMax },
        description:
          "How many wrong credentials one address (of IPv6: one /64) may send per minute, on " +
          "average. 120 unless given.",
      }),
    ),
    failuresBurst: Type.Optional(
      Type.Integer({
        ...{ title: "whole number", minimum: 1, maximum: floodLimitMax },
        description: "How many wrong credentials one address may send at once. 60 unless given.",
      }),
    ),
  },
  {
    title: "limits",
    description: "Limits against floods. Calls beyond them are answered with 429 and Retry-After.",
    additionalProperties: false,
    examples: [{ requestsPerSecond: 200 }],
  },
);

export const Auth = Type.Object(
  {
    tokens: Type.Optional(
      Type.Array(Token, {
        title: "list of tokens",
        description:
          "Tokens for jobs and people. Several with the same name may be valid, to replace one " +
          "without a gap.",
        maxItems: authTokensMax,
      }),
    ),
    issuers: Type.Optional(Issuers),
    certificates: Type.Optional(Certificates),
    anonymous: Type.Optional(Anonymous),
    limits: Type.Optional(FloodLimits),
  },
  {
    title: "auth",
    description:
      "Who may call the server. Without it, callers on the same machine may do everything, and the " +
      "server listens on loopback only.",
    additionalProperties: false,
  },
);
