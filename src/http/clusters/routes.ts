import type { CallerShares } from "../caller-shares.ts";
import type { App, Context } from "../context.ts";
import { accessRoutes } from "./access-routes.ts";
import { clusterRoutes } from "./cluster-routes.ts";
import { costRoute } from "./cost-route.ts";
import { checkRoutes } from "./credential-checks.ts";
import { credentialRoutes } from "./credential-routes.ts";
import { hubRoutes } from "./hub-routes.ts";
import { orphanRoutes } from "./orphan-routes.ts";
import { templateRoutes } from "./template-routes.ts";
import { workerRoutes } from "./worker-routes.ts";

/** All calls about clusters that Berth makes. */
export function clusterApi(app: App, context: Context, questions: CallerShares): void {
  clusterRoutes(app, context);
  templateRoutes(app, context);
  accessRoutes(app, context);
  credentialRoutes(app, context);
  checkRoutes(app, context);
  workerRoutes(app, context);
  orphanRoutes(app, context);
  costRoute(app, context, questions);
  hubRoutes(app, context);
}
