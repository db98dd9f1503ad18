/** How people sign in through an issuer: to the page, and with `berth login`. */
import Type from "typebox";
import { innerDurationLimits, scopesMax } from "./limits.ts";
import { duration } from "./schema-fields.ts";
import { FilePath } from "./schema-mirror.ts";

export const ClientId = Type.String({
  title: "client id",
  pattern: "^[\\x21-\\x7e]{1,255}$",
  examples: ["berth"],
});

export const Scope = Type.String({
  title: "scope",
  pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}$",
  examples: ["email"],
});

export const SignInTitle = Type.String({
  title: "title",
  pattern: "^[^\\x00-\\x1f\\x7f]{1,60}$",
  description: "What people call the issuer; without it the host of its address.",
  examples: ["Acme account"],
});

export const SecretVariable = Type.String({
  title: "name of a variable",
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  description: "The environment variable of the server that has the secret.",
  examples: ["BERTH_SIGN_IN_SECRET"],
});

export const SecretPlace = Type.Object(
  {
    env: Type.Optional(SecretVariable),
    file: Type.Optional(
      Type.String({
        ...FilePath,
        description: "A file that has the secret; a relative path is relative to this file.",
        examples: ["sign-in.secret"],
      }),
    ),
  },
  {
    title: "map with env or file",
    description: "Where the secret of the client is. Without it the client is public.",
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
  },
);

export const SignIn = Type.Object(
  {
    client: Type.Optional(
      Type.String({
        ...ClientId,
        description:
          "The client id of the page at the issuer. Register the redirect URI " +
          "https://SERVER/sign-in/callback for it.",
      }),
    ),
    secret: Type.Optional(SecretPlace),
    cliClient: Type.Optional(
      Type.String({
        ...ClientId,
        description:
          "The client id of berth login at the issuer: a native client without a secret. Register " +
          "the redirect URI http://127.0.0.1/callback for it, or allow the device flow.",
        examples: ["berth-cli"],
      }),
    ),
    scopes: Type.Optional(
      Type.Array(Scope, {
        title: "list of scopes",
        description: "What to ask the issuer for; openid is always there.",
        default: ["openid", "profile", "email"],
        maxItems: scopesMax,
      }),
    ),
    title: Type.Optional(SignInTitle),
    session: Type.Optional(
      duration(innerDurationLimits.session, {
        example: "8h",
        description:
          "How long a session of the page lasts, in use or not. Without it, until the id token " +
          "expires, and longer while the page is in use, at most eight hours.",
      }),
    ),
  },
  {
    title: "map with client or cliClient",
    description: "People sign in to the page and with berth login through this issuer.",
    additionalProperties: false,
    minProperties: 1,
  },
);
