import Type from "typebox";
import { Page } from "../api/schemas.ts";
import { Space } from "../api/space-schemas.ts";
import { type SpaceView, spaceNames, spaceView, waitsBySpace } from "../core/explain/space-view.ts";
import { callerOf } from "./authorize.ts";
import type { App, Context } from "./context.ts";
import { pageFields, pageOf } from "./paging.ts";
import { problems } from "./responses.ts";
import { limitedTo } from "./sight.ts";

const Query = Type.Object(pageFields, { additionalProperties: false });
const SpacePage = Page(Space);

/** Of a holder, only its own space. */
export function spaceRoutes(app: App, { broker }: Context): void {
  const schema = {
    tags: ["pools"],
    summary: "All spaces: shares, quotas and what they hold",
    querystring: Query,
    response: { 200: SpacePage, ...problems(400) },
  };
  app.get("/v1/spaces", { schema }, (request) =>
    broker.read((state) => {
      const only = limitedTo(callerOf(request));
      const names = only === undefined ? spaceNames(state) : [only];
      const key = (name: string) => name;
      const waits = waitsBySpace(state);
      return pageOf(names, request.query, key, (name) => ({
        ...renderSpace(spaceView(state, name)),
        waits: Array.from(waits.get(name) ?? [], ([pool, requests]) => ({ pool, requests })),
      }));
    }),
  );
}

export function renderSpace({ holds, quotas, ...space }: SpaceView): Space {
  const shown = quotas.map(({ heldBy, ...quota }) => ({ ...quota, heldBy: [...heldBy] }));
  return { ...space, holds: [...holds], quotas: shown };
}
