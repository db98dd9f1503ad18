import { isMap } from "yaml";
import type { ConfigDocument, Spot } from "./document.ts";
import { quote } from "./document.ts";
import { templateLimits } from "./limits.ts";
import { textOf } from "./read-mirror.ts";
import { type Entry, readKnown, readNamed } from "./read-values.ts";
import { Credential } from "./schema-templates.ts";
import type { CredentialSource } from "./template-spec.ts";
import {
  kubeSecretKind,
  nameKind,
  pathKind,
  secretKeyKind,
  variableNameKind,
} from "./text-kinds.ts";

const expected = {
  title: "credential",
  hint: "write { file: aws.ini }, { env: AWS_KEY } or { secret: berth/aws, key: credentials }",
};
const credentials = {
  title: "map of credentials",
  hint: "write { aws: { file: aws.ini } }",
  names: nameKind,
  max: templateLimits.credentialsMax,
  of: "credentials",
};
const keys = Object.keys(Credential.properties);

/** Where secrets are. Their values are never read here, but for a hash of their content. */
export function readCredentials(
  document: ConfigDocument,
  field: Entry | undefined,
): Readonly<Record<string, CredentialSource>> {
  if (field === undefined) return {};
  const found = readNamed(document, field, credentials).flatMap(({ key, value }) => {
    const source = readCredential(document, value);
    return source === undefined ? [] : [[key, source] as const];
  });
  return Object.fromEntries(found);
}

function readCredential(document: ConfigDocument, spot: Spot): CredentialSource | undefined {
  if (!isMap(spot.node)) {
    // The message does not repeat the value, which may be the secret itself.
    document.source.refuse(spot, "it is not a reference to a secret", expected.hint);
    return undefined;
  }
  const fields = readKnown(document, spot, keys, expected);
  if (fields === undefined) return undefined;
  const sources = ["file", "env", "secret"].filter((key) => fields.has(key));
  if (sources.length !== 1) {
    const state =
      sources.length === 0 ? "it does not say where the secret is" : "it names two places";
    document.source.refuse(spot, state, expected.hint);
    return undefined;
  }
  const file = textOf(document, fields, "file", pathKind);
  if (file !== undefined)
    return { from: "file", path: document.source.programs?.pathOf(file) ?? file };
  const variable = textOf(document, fields, "env", variableNameKind);
  if (variable !== undefined) return { from: "env", variable };
  const secret = textOf(document, fields, "secret", kubeSecretKind);
  const key = textOf(document, fields, "key", secretKeyKind);
  if (secret === undefined) return undefined;
  if (key === undefined) {
    document.source.refuse(
      spot,
      `the Secret ${quote(secret)} needs a key`,
      "add key: and its name",
    );
    return undefined;
  }
  const [namespace = "", name = ""] = secret.split("/");
  const kubeconfig = textOf(document, fields, "kubeconfig", pathKind);
  const path = kubeconfig && (document.source.programs?.pathOf(kubeconfig) ?? kubeconfig);
  return {
    from: "secret",
    namespace,
    name,
    key,
    ...(path === undefined ? {} : { kubeconfig: path }),
  };
}
