/** Finds the secrets that a template refers to. Only the provisioner does this. */
import { readFile } from "node:fs/promises";
import type { CredentialSource, SecretSource } from "../../config/template-spec.ts";
import type { SecretMask } from "../../drivers/secret-mask.ts";
import { ApiServer } from "../../kubernetes/api-server.ts";

/** Something that the template needs is not there, so no call is made. */
export class MissingDependency extends Error {
  override readonly name = "MissingDependency";
}

export async function resolveCredentials(
  template: string,
  sources: Readonly<Record<string, CredentialSource>>,
  mask: SecretMask,
): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const [name, source] of Object.entries(sources)) {
    const value = await readCredential(source).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      const what = `Cannot use the template ${template}: the credential ${name} is missing`;
      throw new MissingDependency(`${what}: ${mask.clean(why)}`);
    });
    mask.registerDocument(value);
    found[name] = value;
  }
  return found;
}

async function readCredential(source: CredentialSource): Promise<string> {
  switch (source.from) {
    case "file":
      return readFile(source.path, "utf8");
    case "env": {
      const value = process.env[source.variable];
      if (value === undefined) throw new Error(`the variable ${source.variable} is not set`);
      return value;
    }
    case "secret":
      return secretValue(source);
  }
}

interface SecretObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Rejects if there is no such Secret or key, or nobody can tell. */
export async function secretValue(source: SecretSource, signal?: AbortSignal): Promise<string> {
  const { namespace, name, key, kubeconfig } = source;
  const api = await ApiServer.connect({ kubeconfig });
  const path = ["api", "v1", "namespaces", namespace, "secrets", name];
  const { data } = await api.call<SecretObject>({ path, signal });
  const value = data?.[key];
  if (value === undefined) throw new Error(`the Secret ${namespace}/${name} has no key ${key}`);
  return Buffer.from(value, "base64").toString("utf8");
}
