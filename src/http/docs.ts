import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { App } from "./context.ts";
import { documentLines } from "./lines.ts";
import { pagePolicy, withPageHeaders } from "./page-headers.ts";

/** The page sets inline styles and embeds its icons as data. "Try it out" calls this server only. */
const policy = pagePolicy(
  ...["script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  "connect-src 'self'",
);

/**
 * Serves the OpenAPI 3.1 document, generated from the validation schemas, and a page that shows it.
 * Must be called before any route is registered.
 */
export async function documentRoutes(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    transform: ({ schema, url, route }) => ({ schema: documentLines(schema, route), url }),
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Berth",
        version,
        description:
          "Lends scarce test infrastructure to CI jobs: ask, wait your turn, hold, give back. The calls " +
          "of a job also answer `Accept: text/plain`, with one line `path=value` for each value of the JSON.",
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      tags: [
        { name: "leases", description: "Request, keep alive, release" },
        { name: "requests", description: "Requests that wait" },
        { name: "pools", description: "Groups of resources with one policy" },
        { name: "resources", description: "Single resources" },
        {
          name: "clusters",
          description: "Clusters that Berth makes: templates, access, credentials",
        },
        {
          name: "hubs",
          description: "API servers on which something else makes clusters for Berth",
        },
        { name: "events", description: "What happens, live" },
        { name: "history", description: "Past leases, statistics and simulations" },
        { name: "audit", description: "Who did what" },
        { name: "clients", description: "Clients that the server brings" },
        { name: "page", description: "What the page at / needs in addition" },
      ],
      components: {
        securitySchemes: {
          token: {
            type: "http",
            scheme: "bearer",
            description:
              "The caller's own token, if the server has authentication. The token from the reply " +
              "to POST /v1/leases is enough for that lease.",
          },
        },
      },
    },
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: policy,
    uiHooks: {
      onRequest: (_request, reply, done) => {
        withPageHeaders(reply, policy);
        done();
      },
    },
    uiConfig: { deepLinking: true, docExpansion: "list", defaultModelsExpandDepth: 0 },
    // Hides the bar at the top: it shows the Swagger logo and a URL field that nobody needs here.
    theme: {
      title: "Berth API",
      css: [{ filename: "berth.css", content: ".swagger-ui .topbar { display: none }" }],
    },
  });
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}
