/** What a holder gets, from the Secrets that a back end has written. */
import { parseDocument } from "yaml";
import type { KubeObject } from "../../kubernetes/kube-objects.ts";
import { type AccessBundle, Retry } from "../driver.ts";
import type { SecretMask } from "../secret-mask.ts";
import type { HubApi, Within } from "./hub-api.ts";
import { secretKind } from "./kind.ts";

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Names of Secrets. A back end that leaves a user to others has no password. */
export interface AccessSecrets {
  readonly kubeconfig: string;
  /** The keys of the kubeconfig in its Secret; the first that is there. */
  readonly keys: readonly string[];
  readonly password?: string | undefined;
}

/** Every value is known to the mask before it goes anywhere. */
export async function readAccess(
  hub: HubApi,
  mask: SecretMask,
  secrets: AccessSecrets,
  within: Within,
): Promise<AccessBundle> {
  const config = await hub.find<SecretObject>(secretKind, secrets.kubeconfig, within);
  const found = secrets.keys.flatMap((key) => config?.data?.[key] ?? []).at(0);
  if (found === undefined) {
    throw new Retry(`The kubeconfig is not there yet: Secret ${secrets.kubeconfig} has none`);
  }
  const kubeconfig = decoded(found);
  mask.registerDocument(kubeconfig);
  if (secrets.password === undefined) return { kubeconfig };
  const user = await hub.find<SecretObject>(secretKind, secrets.password, within);
  const { password, username = Buffer.from("kubeadmin").toString("base64") } = user?.data ?? {};
  if (password === undefined) return { kubeconfig };
  mask.register(decoded(password));
  return { kubeconfig, username: decoded(username), password: decoded(password) };
}

/** The address of the API in a kubeconfig; undefined if there is none that can be read. */
export function serverOf(kubeconfig: string): string | undefined {
  const config = parseDocument(kubeconfig);
  const server: unknown =
    config.errors.length > 0 ? "" : config.getIn(["clusters", 0, "cluster", "server"]);
  return typeof server === "string" && server !== "" ? server : undefined;
}

function decoded(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
