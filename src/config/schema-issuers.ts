/** Services whose signed tokens prove who calls: CI systems and clusters. */
import Type from "typebox";
import {
  issuerClaimsMax,
  issuerRulesMax,
  issuersMax,
  nameLengthMax,
  patternLengthMax,
} from "./limits.ts";
import { clusterFields, FilePath } from "./schema-mirror.ts";
import { RoleName } from "./schema-role.ts";
import { SignIn } from "./schema-sign-in.ts";

export const IssuerUrl = Type.String({
  title: "URL",
  pattern: "^https?://[^\\s?#@]{1,2000}$",
  examples: ["https://token.actions.githubusercontent.com"],
});

export const Audience = Type.String({
  title: "audience",
  pattern: "^[\\x21-\\x7e]{1,2000}$",
  description:
    "Tokens must have been issued for this; best the address of the server. Not needed with signIn, " +
    "whose clients are audiences as well.",
  examples: ["https://berth.example.org"],
});

export const ClaimPath = Type.String({
  title: "name of a claim",
  pattern: `^[^\\x00-\\x1f\\x7f{}]{1,${nameLengthMax}}$`,
});

export const ClaimPattern = Type.String({
  title: "pattern",
  pattern: `^[^\\x00-\\x1f\\x7f]{1,${patternLengthMax}}$`,
});

const braces = "\\{[^\\x00-\\x1f\\x7f{}]+\\}";

/** What stands around the claims must fit into a name. */
export const SpaceTemplate = Type.String({
  title: "space",
  pattern: `^(?=.{1,${nameLengthMax}}$)(?:[A-Za-z0-9]|${braces})(?:[A-Za-z0-9._-]|${braces})*$`,
  description: "The space of the caller's leases. Claims stand in braces.",
  examples: ["{repository_owner}", "payments"],
});

export const NameTemplate = Type.String({
  title: "name",
  pattern: `^(?=.{1,${nameLengthMax}}$)(?:[^\\x00-\\x1f\\x7f{}]|${braces})+$`,
  description: "Recorded with everything that the caller does. Claims stand in braces.",
  default: "{sub}",
  examples: ["{repository}"],
});

export const Rule = Type.Object(
  {
    claims: Type.Record(ClaimPath, ClaimPattern, {
      title: "map of claims",
      description:
        "All must match. * stands for any characters; kubernetes.io/namespace goes into a claim " +
        "that is a map; of a list one element must match.",
      additionalProperties: false,
      minProperties: 1,
      maxProperties: issuerClaimsMax,
      examples: [{ repository_owner: "acme", ref: "refs/heads/*" }],
    }),
    space: SpaceTemplate,
    role: RoleName,
    name: Type.Optional(NameTemplate),
  },
  { title: "rule", additionalProperties: false },
);

export const KeyPlace = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        ...IssuerUrl,
        description: "Where the keys of the issuer are, if it has no discovery document.",
        examples: ["https://gitlab.example.org/oauth/discovery/keys"],
      }),
    ),
    file: Type.Optional(
      Type.String({
        ...FilePath,
        description: "A file with the keys; a relative path is relative to this file.",
        examples: ["cluster-keys.json"],
      }),
    ),
  },
  {
    title: "map with url or file",
    description: "The keys of the issuer (JWKS). Without it they are found by discovery.",
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
  },
);

export const TokenReviewPlace = Type.Object(clusterFields, {
  title: "map with kubeconfig or context",
  description:
    "Ask the API server of a cluster whether the tokens of its service accounts are valid, instead " +
    "of verifying them with keys.",
  additionalProperties: false,
});

export const Issuer = Type.Object(
  {
    issuer: Type.String({ ...IssuerUrl, description: "The claim iss of its tokens." }),
    audience: Type.Optional(Audience),
    jwks: Type.Optional(KeyPlace),
    tokenReview: Type.Optional(TokenReviewPlace),
    signIn: Type.Optional(SignIn),
    rules: Type.Array(Rule, {
      title: "list of rules",
      description: "Tried in order; the first that matches says who the caller is.",
      minItems: 1,
      maxItems: issuerRulesMax,
    }),
  },
  { title: "issuer", additionalProperties: false },
);

export const Issuers = Type.Array(Issuer, {
  title: "list of issuers",
  description: "Services whose signed tokens are accepted: GitHub Actions, GitLab, Kubernetes.",
  maxItems: issuersMax,
});
