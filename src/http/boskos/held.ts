/** What Boskos's clients say of what they hold: heartbeats, user data, giving back. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { mayDo } from "../../auth/roles.ts";
import type { RequestId, ResourceName } from "../../core/model/ids.ts";
import { callerOf, inSpaceOf } from "../authorize.ts";
import type { Context } from "../context.ts";
import { originOf } from "../origin.ts";
import { parseUserData } from "./user-data.ts";
import { bodyText, failureOf, type Query, sendNothing, sendText } from "./wire.ts";

export async function release(
  { broker }: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const [name, dest, owner] = ["name", "dest", "owner"].map((key) => query.get(key)) as [
    string,
    string,
    string,
  ];
  if (name === "" || dest === "" || owner === "") {
    const text = `Name: ${name}, dest: ${dest}, owner: ${owner}, all of them must be set in the request.`;
    return sendText(reply, { status: 400, text });
  }
  const outcome = await broker.submit(
    {
      type: "release-held",
      resource: name as ResourceName,
      holder: owner,
      ...inSpaceOf(request),
      state: dest,
      ...(mayDo(callerOf(request).role, "clean") ? undefined : { asHolder: true }),
      ...leaseIn(query),
    },
    originOf(request),
  );
  if (outcome.type !== "refused") return sendNothing(reply);
  const { status, text } = failureOf(outcome.refusal);
  return sendText(reply, {
    status,
    text: `Done failed: ${name} - ${dest} (from ${owner}): ${text}`,
  });
}

export async function update(
  { broker }: Context,
  query: Query,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const [name, owner, state] = ["name", "owner", "state"].map((key) => query.get(key)) as [
    string,
    string,
    string,
  ];
  if (name === "" || owner === "" || state === "") {
    const text = `Name: ${name}, owner: ${owner}, state : ${state}, all of them must be set in the request.`;
    return sendText(reply, { status: 400, text });
  }
  const parsed = parseUserData(bodyText(request));
  if ("error" in parsed) return sendText(reply, { status: 400, text: parsed.error });
  const changes = Object.keys(parsed.change).length > 0;
  const outcome = await broker.submit(
    {
      type: "renew-held",
      resource: name as ResourceName,
      holder: owner,
      ...inSpaceOf(request),
      state,
      ...(changes ? { userData: parsed.change } : undefined),
      ...leaseIn(query),
    },
    originOf(request),
  );
  if (outcome.type !== "refused") return sendNothing(reply);
  const { status, text } = failureOf(outcome.refusal);
  return sendText(reply, { status, text: `Update failed: ${name} - ${state} (${owner}): ${text}` });
}

/** Beyond Boskos: a client that names its lease never touches one of another client of its name. */
function leaseIn(query: Query): { lease: RequestId } | undefined {
  const lease = query.get("lease");
  return lease === "" ? undefined : { lease: lease as RequestId };
}
