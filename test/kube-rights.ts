import type { Passing } from "./kube-proxy.ts";

const verbs: Readonly<Record<string, string>> = {
  ...{ POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" },
};

/** `create leases` and so on, as RBAC names what a request does. */
export function rightOf({ method, path }: Passing): string {
  const { pathname, searchParams } = new URL(path, "http://api");
  const [, rest = ""] =
    /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/)?(.*)$/.exec(pathname) ?? [];
  const [resource = "", name, part] = rest.split("/");
  const read = searchParams.has("watch") ? "watch" : name === undefined ? "list" : "get";
  return `${verbs[method] ?? read} ${[resource, part].filter(Boolean).join("/")}`;
}
