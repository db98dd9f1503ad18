import { existsSync } from "node:fs";
import type { SecretPlace, SignInSpec } from "../auth/issuer-spec.ts";
import { type ConfigDocument, readText } from "./document.ts";
import { innerDurationLimits, scopesMax } from "./limits.ts";
import { textOf } from "./read-mirror.ts";
import { type Entry, readDuration, readKnown, readTexts } from "./read-values.ts";
import { SecretPlace as SecretSchema, SignIn } from "./schema-sign-in.ts";
import {
  clientIdKind,
  pathKind,
  scopeKind,
  secretVariableKind,
  signInTitleKind,
} from "./text-kinds.ts";

const expected = { title: "map with client or cliClient", hint: "write { client: berth }" };
const secretExpected = {
  title: "map with env or file",
  hint: "write { env: BERTH_SIGN_IN_SECRET } or { file: sign-in.secret }; the secret itself must not stand here",
};
const scopesExpected = {
  title: "list of scopes",
  hint: "write [profile, email, groups]",
  kind: scopeKind,
  max: scopesMax,
};
const defaultScopes = ["profile", "email"];

/** Undefined, with the reason in the source, if it cannot be used. */
export function readSignIn(
  document: ConfigDocument,
  { value }: Entry,
  issuer: string,
): SignInSpec | undefined {
  const fields = readKnown(document, value, Object.keys(SignIn.properties), expected);
  if (fields === undefined) return undefined;
  const { source } = document;
  const client = textOf(document, fields, "client", clientIdKind);
  const cliClient = textOf(document, fields, "cliClient", clientIdKind);
  if (!fields.has("client") && !fields.has("cliClient")) {
    source.refuse(value, "it has neither client nor cliClient", expected.hint);
  }
  const secretField = fields.get("secret");
  const secret = secretField && readSecret(document, secretField);
  if (secretField !== undefined && !fields.has("client")) {
    const hint = "add client; the client of berth login has no secret, because users could read it";
    source.refuse(secretField.at, "there is no client that the secret belongs to", hint);
  }
  const scopes = fields.get("scopes");
  const session = fields.get("session");
  const sessionMs = session && readDuration(source, session.value, innerDurationLimits.session);
  const wanted = scopes && readTexts(document, scopes.value, scopesExpected);
  return {
    title: textOf(document, fields, "title", signInTitleKind) ?? URL.parse(issuer)?.host ?? issuer,
    ...(client === undefined ? undefined : { client }),
    ...(secret === undefined ? undefined : { secret }),
    ...(cliClient === undefined ? undefined : { cliClient }),
    scopes: [...new Set(["openid", ...(wanted ?? defaultScopes)])],
    ...(sessionMs === undefined ? undefined : { sessionMs }),
  };
}

/** Only warns if the secret is not there: the configuration may be checked on another machine. */
function readSecret(document: ConfigDocument, { value }: Entry): SecretPlace | undefined {
  const { source } = document;
  const names = Object.keys(SecretSchema.properties);
  const fields = readKnown(document, value, names, secretExpected);
  if (fields === undefined) return undefined;
  const [variable, file] = [fields.get("env"), fields.get("file")];
  if ((variable === undefined) === (file === undefined)) {
    const state = file === undefined ? "it has neither env nor file" : "it has both env and file";
    source.refuse(value, state, secretExpected.hint);
    return undefined;
  }
  if (file !== undefined) {
    const written = readText(source, file.value, pathKind);
    if (written === undefined) return undefined;
    const path = source.programs?.pathOf(written) ?? written;
    if (source.programs !== undefined && !existsSync(path)) {
      source.warn(file.value, "there is no such file", "write the secret of the client there");
    }
    return { type: "file", path };
  }
  const name = textOf(document, fields, "env", secretVariableKind);
  if (name === undefined) return undefined;
  if (variable !== undefined && source.programs !== undefined && !process.env[name]) {
    const hint = "set it before the server starts";
    source.warn(variable.value, `the variable ${name} is not set here`, hint);
  }
  return { type: "variable", name };
}
