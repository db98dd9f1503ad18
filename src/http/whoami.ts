import { Whoami } from "../api/schemas.ts";
import type { App, Context } from "./context.ts";
import { operatorProblem } from "./request.ts";
import { timestamp } from "./timestamp.ts";

/** So that the page shows no button that the server would refuse, and says why. */
export function whoamiRoute(app: App, { broker, version }: Context): void {
  const schema = {
    tags: ["page"],
    summary: "What the caller may do, and what the server's clock says",
    response: { 200: Whoami },
  };
  app.get("/v1/whoami", { schema }, async (request) => {
    // Browsers name the page's origin only when it changes something; it is where it was fetched.
    const refusal = operatorProblem(request, `http://${request.headers.host}`);
    return {
      operator: refusal === undefined,
      refusal: refusal === undefined ? null : `${refusal.message}. ${refusal.hint}`,
      version,
      now: timestamp(broker.now()),
      head: broker.head,
    };
  });
}
