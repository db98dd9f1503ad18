/** What some consumers want of a kubeconfig one by one. What is not in it is an empty text. */
import { parse } from "yaml";
import { fieldIn, textIn } from "./conditions.ts";

export interface AccessParts {
  readonly server: string;
  readonly namespace: string;
  readonly token: string;
  /** The service account whose token it is. */
  readonly account: string;
}

export function accessParts(kubeconfig: string): AccessParts {
  const config: unknown = parsed(kubeconfig);
  const context = first(config, "contexts", "context");
  const token = textIn(first(config, "users", "user"), "token") ?? "";
  return {
    server: textIn(first(config, "clusters", "cluster"), "server") ?? "",
    namespace: textIn(context, "namespace") ?? "",
    token,
    account: accountOf(token),
  };
}

/** The first entry of a list of named entries. */
function first(config: unknown, list: string, key: string): unknown {
  const entries = fieldIn(config, list);
  return Array.isArray(entries) ? fieldIn(entries[0], key) : undefined;
}

/** `system:serviceaccount:NAMESPACE:NAME` is the subject of such a token. */
function accountOf(token: string): string {
  const payload = parsed(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  return textIn(payload, "sub")?.split(":")[3] ?? "";
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}
