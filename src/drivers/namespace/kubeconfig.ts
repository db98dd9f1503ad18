/** A kubeconfig for one account in one namespace. JSON is YAML too. */
export function namespaceKubeconfig(access: {
  readonly server: Readonly<Record<string, string | boolean>>;
  readonly namespace: string;
  readonly token: string;
}): string {
  const { server, namespace, token } = access;
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": namespace,
    clusters: [{ name: "cluster", cluster: server }],
    users: [{ name: "holder", user: { token } }],
    contexts: [{ name: namespace, context: { cluster: "cluster", user: "holder", namespace } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
