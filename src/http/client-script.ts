/** `/client.sh`: the client for jobs that have a shell and curl, and nothing else. */
import { readFile } from "node:fs/promises";
import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { hostnameOfHeader, isLoopbackName } from "../api/loopback.ts";
import type { App, Context } from "./context.ts";
import { hostOf, protocolOf } from "./proxies.ts";

/** The path is right from `src/http` and from `dist/http`. */
const file = new URL("../../clients/shell/client.sh", import.meta.url);

/** The line of the script that names its server. */
const placeholder = "berth_served_by=''";

const schema = {
  tags: ["clients"],
  summary: "The shell client; it needs curl and any POSIX shell",
  description: "curl -fsS $BERTH_URL/client.sh | sh -s -- run --pool aws-account -- ./e2e.sh",
  response: {
    200: {
      description: "A script that knows the address by which it was fetched",
      content: { "text/x-shellscript": { schema: Type.String() } },
    },
  },
};

export async function clientScriptRoute(app: App, { auth }: Pick<Context, "auth">): Promise<void> {
  const script = await readFile(file, "utf8");
  app.get("/client.sh", { schema }, async (request, reply) => {
    const address = addressOf(request, auth.isOn);
    reply
      .type("text/x-shellscript; charset=utf-8")
      .header("cache-control", "no-cache")
      .header("x-content-type-options", "nosniff");
    return script.replace(placeholder, `berth_served_by='${address}'`);
  });
}

/**
 * The address by which the script was fetched; empty if it must not be guessed. A proxy that adds TLS may
 * not say so; then a token would go over plain HTTP, so BERTH_URL must be set.
 */
function addressOf(request: FastifyRequest, hasTokens: boolean): string {
  const host = hostOf(request) ?? "";
  // A host name cannot end the quotes in which it stands.
  if (!/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host)) return "";
  const protocol = protocolOf(request);
  if (protocol === "https") return `https://${host}`;
  return hasTokens && !isLoopbackName(hostnameOfHeader(host) ?? "") ? "" : `http://${host}`;
}
