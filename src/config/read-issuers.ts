import { readFileSync, statSync } from "node:fs";
import type { IssuerSpec, ProofSpec, RuleSpec } from "../auth/issuer-spec.ts";
import { isProtectedUrl } from "../auth/protected-url.ts";
import type { Role } from "../auth/roles.ts";
import { type ConfigDocument, quote, readText, type Spot } from "./document.ts";
import { fileBytesMax, issuerClaimsMax, issuerRulesMax, issuersMax } from "./limits.ts";
import { readRole, requireKeys } from "./read-access.ts";
import { readCluster, textOf } from "./read-mirror.ts";
import { readSignIn } from "./read-sign-in.ts";
import { type Entry, listOf, readKnown, readNamed, withinLimit } from "./read-values.ts";
import { Issuer, KeyPlace, Rule, TokenReviewPlace } from "./schema-issuers.ts";
import {
  audienceKind,
  claimPathKind,
  claimPatternKind,
  issuerUrlKind,
  nameTemplateKind,
  pathKind,
  spaceTemplateKind,
} from "./text-kinds.ts";

type Fields = ReadonlyMap<string, Entry>;

const issuerExpected = {
  title: "token issuer",
  hint: "write { issuer: https://..., audience: https://..., rules: [...] }",
};
const keysExpected = {
  title: "map with url or file",
  hint: "write { url: https://... } or { file: keys.json }",
};
const reviewExpected = { title: "map", hint: "write {} or { kubeconfig: PATH, context: NAME }" };
const ruleExpected = {
  title: "rule",
  hint: "write { claims: { repository_owner: acme }, space: acme, role: holder }",
};
const claimEntries = {
  title: "map of claims",
  hint: "write { repository_owner: acme }",
  names: claimPathKind,
  max: issuerClaimsMax,
  of: "claims",
};

/** Empty if the file has none. Issuers that cannot be used are reported to the document and left out. */
export function readIssuers(
  document: ConfigDocument,
  field: Entry | undefined,
): readonly IssuerSpec[] {
  const spots = listOf(document, field?.value, "list of issuers");
  const size = { count: spots.length, max: issuersMax, of: "issuers" };
  if (field !== undefined && !withinLimit(document, field.at, size)) return [];
  const issuers = spots.flatMap((spot) => readIssuer(document, spot) ?? []);
  refuseTwins(document, spots, issuers);
  return issuers;
}

function readIssuer(document: ConfigDocument, spot: Spot): IssuerSpec | undefined {
  const fields = readKnown(document, spot, Object.keys(Issuer.properties), issuerExpected);
  if (fields === undefined) return undefined;
  const people = fields.get("signIn");
  // The client ids of `signIn` are audiences as well, so that `audience` may be missing.
  const required = ["issuer", ...(people === undefined ? ["audience"] : []), "rules"];
  requireKeys(document, spot, fields, required, issuerExpected.hint);
  const issuer = textOf(document, fields, "issuer", issuerUrlKind);
  const signIn = people && readSignIn(document, people, issuer ?? "");
  const written = textOf(document, fields, "audience", audienceKind);
  const audience = written ?? signIn?.client ?? signIn?.cliClient;
  const proof = readProof(document, fields);
  const isFetched = proof?.type === "discovery" || proof?.type === "keys-url";
  const named = fields.get("issuer");
  if (named !== undefined && isFetched) refuseOpenUrl(document, named.value, issuer);
  if (people !== undefined && proof?.type === "token-review") {
    const hint = "people sign in through an issuer with keys: remove tokenReview or signIn";
    document.source.refuse(people.at, "the issuer has tokenReview as well", hint);
  }
  const rules = readRules(document, fields.get("rules"), issuer);
  if (issuer === undefined || audience === undefined || proof === undefined) return undefined;
  return { issuer, audience, proof, rules, ...(signIn && { signIn }) };
}

/** Two entries may name one issuer, if each has keys of its own: two clusters, for example. */
function refuseTwins(
  { source }: ConfigDocument,
  spots: readonly Spot[],
  issuers: readonly IssuerSpec[],
): void {
  if (issuers.length !== spots.length) return; // Something else is wrong, and named already.
  const lineByKey = new Map<string, number>();
  for (const [index, { issuer, audience, proof }] of issuers.entries()) {
    const spot = spots[index];
    if (spot === undefined) return;
    const key = JSON.stringify([issuer, audience, proof]);
    const line = lineByKey.get(key);
    if (line !== undefined) {
      const state = `line ${line} has the same issuer, audience and keys`;
      source.refuse(spot, state, "add these rules to that entry");
    }
    lineByKey.set(key, source.lineOf(spot));
  }
}

function readProof(document: ConfigDocument, fields: Fields): ProofSpec | undefined {
  const [keys, review] = [fields.get("jwks"), fields.get("tokenReview")];
  if (review === undefined) {
    return keys === undefined ? { type: "discovery" } : readKeyPlace(document, keys.value);
  }
  if (keys !== undefined) {
    const hint = "keep jwks, to verify with keys, or tokenReview, to ask the cluster";
    document.source.refuse(review.at, "the issuer has jwks as well", hint);
  }
  const names = Object.keys(TokenReviewPlace.properties);
  const place = readKnown(document, review.value, names, reviewExpected);
  return place && { type: "token-review", ...readCluster(document, place) };
}

function readKeyPlace(document: ConfigDocument, spot: Spot): ProofSpec | undefined {
  const { source } = document;
  const fields = readKnown(document, spot, Object.keys(KeyPlace.properties), keysExpected);
  if (fields === undefined) return undefined;
  const file = fields.get("file");
  const url = fields.get("url");
  if ((file === undefined) === (url === undefined)) {
    const state = file === undefined ? "it has neither url nor file" : "it has both url and file";
    source.refuse(spot, state, keysExpected.hint);
    return undefined;
  }
  if (file !== undefined) {
    const written = readText(source, file.value, pathKind);
    if (written === undefined) return undefined;
    const path = source.programs?.pathOf(written) ?? written;
    warnOfKeyFile(document, file.value, path);
    return { type: "keys-file", path };
  }
  const address = textOf(document, fields, "url", issuerUrlKind);
  if (url !== undefined) refuseOpenUrl(document, url.value, address);
  return address === undefined ? undefined : { type: "keys-url", url: address };
}

/** A warning only: the file may be replaced at any time, and is read again then. */
function warnOfKeyFile({ source }: ConfigDocument, spot: Spot, path: string): void {
  if (source.programs === undefined) return;
  const hint = "save the JWKS of the issuer there: kubectl get --raw /openid/v1/jwks";
  try {
    const about = statSync(path);
    // The server would wait for a pipe or a device.
    const isReadable = about.isFile() && about.size <= fileBytesMax;
    const { keys } = Object(JSON.parse(isReadable ? readFileSync(path, "utf8") : ""));
    if (!Array.isArray(keys)) source.warn(spot, "the file has no list of keys", hint);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    source.warn(spot, isMissing ? "there is no such file" : "the file is not JSON", hint);
  }
}

function refuseOpenUrl({ source }: ConfigDocument, spot: Spot, url: string | undefined): void {
  if (url === undefined || isProtectedUrl(url)) return;
  const state = URL.canParse(url)
    ? `${quote(url)} is not https, so others could replace the keys on the way`
    : `${quote(url)} is not a URL`;
  source.refuse(spot, state, "use https; http works on loopback, or with jwks: { file: ... }");
}

function readRules(
  document: ConfigDocument,
  field: Entry | undefined,
  issuer: string | undefined,
): readonly RuleSpec[] {
  const spots = listOf(document, field?.value, "list of rules");
  if (field === undefined) return [];
  const size = { count: spots.length, max: issuerRulesMax, of: "rules" };
  if (!withinLimit(document, field.at, size)) return [];
  if (spots.length === 0) {
    document.source.refuse(field.value, "it has no rule", `add one: ${ruleExpected.hint}`);
  }
  return spots.flatMap((spot) => readRule(document, spot, issuer) ?? []);
}

function readRule(
  document: ConfigDocument,
  spot: Spot,
  issuer: string | undefined,
): RuleSpec | undefined {
  const fields = readKnown(document, spot, Object.keys(Rule.properties), ruleExpected);
  if (fields === undefined) return undefined;
  requireKeys(document, spot, fields, ["claims", "space", "role"], ruleExpected.hint);
  const claims = readClaims(document, fields.get("claims"));
  const space = textOf(document, fields, "space", spaceTemplateKind);
  const role = readRole(document, fields.get("role"));
  const name = textOf(document, fields, "name", nameTemplateKind);
  if (space === undefined || role === undefined) return undefined;
  warnOfStrangers(document, spot, { issuer, claims });
  if (Object.values(claims).every((pattern) => /^\*+$/.test(pattern))) {
    warnOfPower(document, spot, role);
  }
  return { claims, space, role, ...(name === undefined ? undefined : { name }) };
}

function readClaims(document: ConfigDocument, field: Entry | undefined): RuleSpec["claims"] {
  if (field === undefined) return {};
  const entries = readNamed(document, field, claimEntries);
  if (entries.length === 0) {
    const hint = 'name a claim that says whose token it is; write { sub: "*" } for every token';
    document.source.refuse(field.value, "every token would match", hint);
  }
  return Object.fromEntries(
    entries.map(({ key, value }) => {
      return [key, readText(document.source, value, claimPatternKind) ?? ""];
    }),
  );
}

function warnOfPower({ source }: ConfigDocument, spot: Spot, role: Role): void {
  if (role !== "operator" && role !== "admin") return;
  const state = `every token of the issuer would be ${role}`;
  source.warn(spot, state, "name whose tokens are meant in claims");
}

/** Issuers at which anybody can have an account, and get a token for any audience. */
const publicIssuers = ["https://token.actions.githubusercontent.com", "https://gitlab.com"];
/** Claims that say whose job it is. */
const ownerClaims = [
  ...["sub", "repository", "repository_id", "repository_owner", "repository_owner_id"],
  ...["enterprise", "enterprise_id", "job_workflow_ref", "workflow_ref"],
  ...["namespace_path", "namespace_id", "project_path", "project_id"],
  ...["user_login", "user_id", "user_email"],
];
/** A pattern that names no owner; in `sub` the owner follows the first colon. */
const anyOwner = /^(?:repo:|project_path:)?\*/;

function warnOfStrangers(
  { source }: ConfigDocument,
  spot: Spot,
  { issuer = "", claims }: { issuer: string | undefined; claims: RuleSpec["claims"] },
): void {
  if (!publicIssuers.includes(issuer)) return;
  const isOwned = Object.entries(claims).some(([path, pattern]) => {
    return ownerClaims.includes(path) && !anyOwner.test(pattern);
  });
  if (isOwned) return;
  const state = `anyone with an account at ${issuer} may match this rule`;
  source.warn(spot, state, "add a claim such as repository_owner or namespace_path");
}
