import { expect, test } from "vitest";
import type { PageOf } from "../api/schemas.ts";
import type { AuthSpec } from "../auth/auth-spec.ts";
import { tokenHash } from "../auth/static-tokens.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import type { FeedEvent } from "../client/event-feed.ts";
import { pool } from "../core/decide/lending.suite.ts";
import type { SpaceName } from "../core/model/ids.ts";
import { defaultAdaptive } from "../core/model/policy.ts";
import {
  askBody,
  asLease,
  asProblem,
  asRequest,
  type TestSite,
  testSite,
} from "./test-site.suite.ts";

const site = (auth: AuthSpec = testAuth) => testSite([pool("aws", 2)], {}, undefined, auth);
const basic = (user: string, password: string, encoding?: BufferEncoding) => {
  const pair = Buffer.from(`${user}:${password}`, encoding).toString("base64");
  return { headers: { authorization: `Basic ${pair}` } };
};
const { holder, viewer, operator } = testTokens;

test.each([
  ["no credentials", {}],
  ["an unknown token", { token: "nonsense" }],
  ["the hash of a token", { token: tokenHash(holder) }],
  ["a token with a part missing", { token: holder.slice(0, -1) }],
  ["an empty token", { headers: { authorization: "Bearer " } }],
  ["another scheme", { headers: { authorization: `Digest ${holder}` } }],
  ["two tokens", { headers: { authorization: `Bearer ${holder} ${holder}` } }],
  ["a token without a scheme", { headers: { authorization: holder } }],
  ["a user whom the token does not belong to", basic("somebody", holder)],
  ["a user without a password", basic("holder", "")],
  ["basic credentials that are no text", { headers: { authorization: "Basic ////" } }],
  ["basic credentials that are no Base64", { headers: { authorization: `Basic !${holder}` } }],
  ["basic credentials in bytes that are not UTF-8", basic("holder", `${holder}\xff`, "latin1")],
  ["a user with a line feed", basic("holder\n", holder)],
  ["a password with a control character", basic("holder", `${holder}\0`)],
  ["a very long password", basic("holder", holder.repeat(500))],
])("a call with %s gets 401, and nothing of it is repeated or logged", async (_, call) => {
  await using here = await site();
  const answer = await here.call("GET /v1/pools", call);
  expect(answer).toMatchObject({ status: 401, type: "application/problem+json" });
  expect(answer.headers["www-authenticate"]).toBe('Bearer realm="berth"');
  expect(asProblem(answer)).toMatchObject({ code: "unauthenticated", hint: expect.any(String) });
  expect(answer.text + here.log()).not.toContain(holder.slice(0, -1));
});

test("a refused role is named, with the one that would do", async () => {
  await using here = await site();
  const body = { drained: true };
  const answer = await here.call("PATCH /v1/resources/aws-1", { token: viewer, body });
  expect(answer.status).toBe(403);
  expect(asProblem(answer)).toMatchObject({
    code: "forbidden",
    role: "viewer",
    needed: "operator",
    detail: 'Cannot do this as "viewer": it has the role viewer, and this call needs operator',
  });
});

test("a Boskos client sends the token as its password, and is told so", async () => {
  await using here = await site();
  const line = "POST /acquire?type=aws&state=free&dest=busy&owner=me";
  const refused = await here.call(line);
  expect(refused).toMatchObject({ status: 401, type: "text/plain" });
  expect(refused.headers["www-authenticate"]).toMatch(/^Basic /);
  expect((await here.call(line, basic("holder", holder))).status).toBe(200);
  const authorization = `Basic ${Buffer.from(holder).toString("base64")}`;
  const withoutName = await here.call(line, { headers: { authorization } });
  expect(withoutName).toMatchObject({ status: 401 });
  expect(withoutName.text).toContain("the Basic credentials are not NAME:TOKEN in Base64");
});

test("a password may have colons, spaces and letters of any alphabet", async () => {
  const passwords = ["a:b: c", "пароль-ключ", "schlüssel 🔑"];
  const named = { name: "ci", space: "team" as SpaceName, role: "holder" } as const;
  const tokens = passwords.map((one) => ({ ...named, sha256: tokenHash(one) }));
  await using here = await site({ tokens });
  for (const password of passwords) {
    expect(await here.call("GET /v1/pools", basic("ci", password))).toMatchObject({ status: 200 });
  }
});

test("an expired token is refused with its name and time, another of that name still works", async () => {
  const at = { name: "ci", space: "team" as SpaceName, role: "holder" } as const;
  const auth: AuthSpec = {
    tokens: [
      { ...at, sha256: tokenHash("old"), expiresAtMs: 1_000 },
      { ...at, sha256: tokenHash("new"), expiresAtMs: Number.MAX_SAFE_INTEGER },
    ],
  };
  await using here = await site(auth);
  const answer = await here.call("GET /v1/pools", { token: "old" });
  expect(asProblem(answer)).toMatchObject({
    code: "unauthenticated",
    detail: expect.stringContaining('the token "ci" expired at 1970-01-01T00:00:01.000Z'),
  });
  expect((await here.call("GET /v1/pools", { token: "new" })).status).toBe(200);
});

test("callers without credentials are whom the configuration says, wrong ones are refused", async () => {
  const anonymous = {
    name: "anonymous",
    space: "public" as SpaceName,
    role: "viewer",
    proof: "none",
  };
  await using here = await site({
    ...testAuth,
    anonymous: anonymous as AuthSpec["anonymous"] & {},
  });
  expect((await here.call("GET /v1/pools")).status).toBe(200);
  expect((await here.call("POST /v1/leases", { body: askBody("aws") })).status).toBe(403);
  expect((await here.call("GET /v1/pools", { token: "nonsense" })).status).toBe(401);
  expect((await here.call("GET /v1/whoami")).body).toMatchObject({
    authentication: true,
    name: "anonymous",
    space: "public",
    role: "viewer",
    operator: false,
  });
});

test("the token of a lease is enough for its holder, and for nothing else", async () => {
  await using here = await site();
  const asked = { token: holder, body: askBody("aws") };
  const { id, token } = asLease(await here.call("POST /v1/leases", asked));
  expect((await here.call(`POST /v1/leases/${id}/heartbeat`, { token })).status).toBe(200);
  expect((await here.call(`GET /v1/leases/${id}`, { token })).status).toBe(200);
  expect((await here.call("GET /v1/leases", { token })).status).toBe(401);
  expect((await here.call("POST /v1/leases", { token, body: askBody("aws") })).status).toBe(401);
  expect((await here.call(`DELETE /v1/leases/${id}?force=true`, { token })).status).toBe(401);
  expect((await here.call(`DELETE /v1/leases/${id}`, { token: holder })).status).toBe(403);
  expect((await here.call(`DELETE /v1/leases/${id}`, { token })).status).toBe(204);
});

/** Two leases and a waiting request of the space `team`, and one more request of `other`. */
async function twoSpaces(here: TestSite) {
  const ask = (token: string, more: object) => {
    return here.call("POST /v1/leases", { token, body: askBody("aws", more) });
  };
  const held = asLease(await ask(holder, { holder: "secret-job", requestId: "same" }));
  const theirs = asLease(await ask(otherToken, { holder: "other-job", requestId: "same" }));
  const waits = asRequest(await ask(holder, { holder: "secret-waiter", requestId: "queued" }));
  const behind = asRequest(await ask(otherToken, { holder: "other-waiter", requestId: "queued" }));
  return { held, theirs, waits, behind };
}

test("two spaces may use the same request id, and each gets its own lease", async () => {
  await using here = await site();
  const { held, theirs } = await twoSpaces(here);
  expect(theirs.id).not.toBe(held.id);
  expect(theirs).toMatchObject({ requestId: "same", space: "other", holder: "other-job" });
  const again = {
    token: otherToken,
    body: askBody("aws", { holder: "other-job", requestId: "same" }),
  };
  expect(asLease(await here.call("POST /v1/leases", again)).id).toBe(theirs.id);
});

test("a holder sees no name of another space, and its own as ever", async () => {
  await using here = await site();
  const { held, theirs, waits, behind } = await twoSpaces(here);
  const token = otherToken;
  const lines = [
    "GET /v1/leases",
    "GET /v1/requests",
    "GET /v1/resources",
    `GET /v1/resources/${held.claims[0]?.resource}`,
    `GET /v1/explain/${behind.id}`,
    "GET /v1/explain/queued",
    `GET /v1/requests/${behind.id}`,
    "GET /v1/search?q=secret",
    "GET /v1/pools",
    "GET /v1/history",
    "GET /metric?type=aws",
    "POST /release?name=aws-1&dest=free&owner=other-job",
    "POST /update?name=aws-1&state=busy&owner=other-job",
  ];
  for (const line of lines) {
    const { text } = await here.call(line, { token });
    expect(text, line).not.toMatch(/secret-(job|waiter)/);
  }
  const listed = (await here.call("GET /v1/leases", { token })).body;
  expect(listed).toMatchObject({ items: [{ id: theirs.id, holder: "other-job" }] });
  const explained = (await here.call(`GET /v1/explain/${behind.id}`, { token })).body;
  expect(explained).toMatchObject({
    request: { id: behind.id, position: 2 },
    needs: [{ ahead: 1, aheadOfIt: [{ id: "", holder: "another space" }] }],
  });
  for (const line of [`leases/${held.id}`, `requests/${waits.id}`, `explain/${waits.id}`]) {
    expect((await here.call(`GET /v1/${line}`, { token })).status, line).toBe(404);
  }
  expect((await here.call("GET /v1/search?q=secret", { token: viewer })).text).toContain("secret");
});

test("a holder of the same name in another space cannot release or renew", async () => {
  await using here = await site();
  const url = await here.listen();
  const send = (path: string, call: ReturnType<typeof basic>) => {
    return fetch(`${url}${path}`, { method: "POST", ...call });
  };
  const [own, other] = [basic("holder", holder), basic("other", otherToken)];
  const acquired = await send("/acquire?type=aws&state=free&dest=busy&owner=same-name", own);
  const { name } = (await acquired.json()) as { name: string };
  const release = `/release?name=${name}&dest=free&owner=same-name`;
  const update = `/update?name=${name}&state=busy&owner=same-name`;
  const refused = await send(release, other);
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain("currently owned by another space");
  expect((await send(update, other)).status).toBe(401);
  expect((await send(update, own)).status).toBe(200);
  expect((await send(release, own)).status).toBe(200);
});

test("only who cleans may lease what is not free", async () => {
  await using here = await site();
  const body = { holder: "me", items: [{ pool: "aws", state: "dirty" }] };
  expect((await here.call("POST /v1/leases", { token: holder, body })).status).toBe(403);
  expect((await here.call("POST /v1/leases", { token: testTokens.worker, body })).status).toBe(202);
});

test("whoever acts for others is named by the credentials, not by the call", async () => {
  await using here = await site();
  const asked = { token: holder, body: askBody("aws") };
  const { id } = asLease(await here.call("POST /v1/leases", asked));
  const line = `DELETE /v1/leases/${id}?force=true&gone=true&by=somebody&reason=maintenance`;
  expect((await here.call(line, { token: operator })).status).toBe(204);
  const answer = await here.call(`GET /v1/leases/${id}`, { token: operator });
  expect(answer.status).toBe(410);
  const events: unknown[] = [];
  for await (const { events: some } of here.journal.read(0)) events.push(...some);
  expect(events).toContainEqual(
    expect.objectContaining({ reason: { by: "operator", as: "somebody", why: "maintenance" } }),
  );
});

/** Reads a feed until its text matches, or until it ends. */
async function readFeed(response: Response, until: RegExp): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (until.test(text)) break;
  }
  return text;
}

test("an event feed shows a holder only the kind and time of events of other spaces", async () => {
  await using here = await site();
  const url = await here.listen();
  const headers = { authorization: `Bearer ${otherToken}` };
  const live = await fetch(`${url}/v1/events`, { headers });
  const { held, theirs } = await twoSpaces(here);
  await here.call(`DELETE /v1/leases/${held.id}`, { token: held.token });
  await here.call(`DELETE /v1/leases/${theirs.id}`, { token: theirs.token });
  const ended = new RegExp(`"lease-ended","id":"${theirs.id}"`);
  const past = await fetch(`${url}/v1/events?after=0`, { headers });
  for (const feed of [live, past]) {
    const text = await readFeed(feed, ended);
    expect(text).toMatch(ended);
    expect(text).not.toMatch(/secret-(job|waiter)/);
    expect(text).not.toContain(held.id);
    expect(text).toMatch(/"type":"lease-ended"\}/);
  }
});

test("an event feed does not tell a holder which operator drained a resource, or why", async () => {
  await using here = await site();
  const url = await here.listen();
  const feedOf = (token: string, query = "") => {
    return fetch(`${url}/v1/events${query}`, { headers: { authorization: `Bearer ${token}` } });
  };
  const live = await feedOf(holder);
  const body = { drained: true, note: "secret-reason", reason: "secret-reason" };
  const drained = { token: testTokens.operator, body };
  expect((await here.call("PATCH /v1/resources/aws-1", drained)).status).toBe(200);
  const ended = /"drained":true.*\n/;
  for (const feed of [live, await feedOf(holder, "?after=0")]) {
    const text = await readFeed(feed, ended);
    expect(text).toMatch(/"type":"resource-changed","resource":"aws-1","drained":true\}/);
    expect(text).not.toMatch(/secret-reason|"by"/);
  }
  const text = await readFeed(await feedOf(viewer, "?after=0"), ended);
  expect(text).toMatch(
    /"note":"secret-reason".*"reason":\{"by":"operator","why":"secret-reason"\}/,
  );
});

test("a refresh cannot name the request of another space", async () => {
  await using here = await site();
  const { held, theirs } = await twoSpaces(here);
  await here.call(`DELETE /v1/leases/${held.id}`, { token: held.token });
  const body = { requestId: "other/same" };
  const line = `POST /v1/leases/${held.id}/refresh`;
  const answer = await here.call(line, { token: held.token, body });
  expect(answer.status).toBe(410);
  expect(answer.text).not.toContain(theirs.id);
});

test("a holder cannot take resources as a cleaner, so that they count as no use", async () => {
  await using here = await site();
  const body = { holder: "me", items: [{ pool: "aws", into: "cleaning" }] };
  expect((await here.call("POST /v1/leases", { token: holder, body })).status).toBe(403);
  const boskos = "POST /acquire?type=aws&state=free&dest=cleaning&owner=me";
  expect((await here.call(boskos, basic("holder", holder))).status).toBe(403);
});

test("events that name other spaces are only for those who see all spaces", async () => {
  await using here = await site();
  const spaces = [{ name: "secret-space" as SpaceName, policy: { weight: 1, quotas: [] } }];
  const pools = [pool("aws", 2, { limit: 2 })];
  await here.broker.submit({ type: "configure", pools, spaces: { spaces, others: null } });
  const past = (token: string) => here.call("GET /v1/events/past?limit=100", { token });
  expect((await past(viewer)).text).toContain("secret-space");
  const { text } = await past(holder);
  expect(text).not.toMatch(/spaces-defined|secret-space/);
  const unknown = await here.call("POST /v1/leases", { token: holder, body: askBody("aws") });
  expect(asProblem(unknown)).toMatchObject({ code: "space_unknown", space: "team" });
  expect(unknown.text).not.toContain("secret-space");
});

test("a holder does not learn when another space held a resource", async () => {
  await using here = await site();
  const grantTo = async (token: string) => {
    const lease = asLease(await here.call("POST /v1/leases", { token, body: askBody("aws") }));
    await here.call(`DELETE /v1/leases/${lease.id}`, { token: lease.token ?? "" });
    return lease.id;
  };
  const ours = await grantTo(holder);
  // More of them than a page has.
  const theirs: string[] = [];
  for (let count = 0; count < 8; count++) theirs.push(await grantTo(otherToken));
  const past = async (token: string, query: string) => {
    const answer = await here.call(`GET /v1/events/past?${query}`, { token });
    return (answer.body as PageOf<FeedEvent>).items.filter(({ type }) => type.startsWith("lease-"));
  };
  const ids = [...new Set((await past(viewer, "limit=100")).map(({ id }) => id))];
  expect(ids).toEqual([...theirs.toReversed(), ours]);
  for (const query of ["limit=100", "resource=aws-1", "type=lease-", "limit=2&type=lease-"]) {
    const seen = await past(holder, query);
    expect([query, seen.map(({ id }) => id)]).toEqual([query, [ours, ours]]);
  }
  expect(await past(holder, `id=${theirs[0]}`)).toEqual([]);
});

test("a holder cannot release into a state from which nobody takes the resource", async () => {
  await using here = await site();
  const { worker } = testTokens;
  const acquire = async (token: string) =>
    Object(
      (
        await here.call("POST /acquire?type=aws&state=free&dest=busy&owner=o&request_id=1", {
          token,
        })
      ).body,
    ) as { readonly name: string };
  const to = (name: string, dest: string, token: string) =>
    here.call(`POST /release?name=${name}&owner=o&dest=${dest}`, { token });
  const { name } = await acquire(holder);
  const refused = await to(name, "__proto__", holder);
  expect(refused).toMatchObject({ status: 400, type: "text/plain" });
  expect(refused.text).toBe(
    `Done failed: ${name} - __proto__ (from o): state "__proto__" is not allowed for aws, only free, dirty\n`,
  );
  expect((await to(name, "free", holder)).status).toBe(200);
  const ours = await acquire(worker);
  expect((await to(ours.name, "mine", worker)).status).toBe(200);

  const ask = { token: holder, body: askBody("aws") };
  const { id, token = "" } = asLease(await here.call("POST /v1/leases", ask));
  for (const path of [`/v1/leases/${id}`, `/v1/leases/${id}/claims/1`]) {
    const answer = await here.call(`DELETE ${path}?state=mine`, { token });
    expect(answer.status).toBe(422);
    const allowed = ["free", "dirty"];
    expect(asProblem(answer)).toMatchObject({ code: "state_not_allowed", allowed });
  }
  expect((await here.call(`DELETE /v1/leases/${id}?state=dirty`, { token })).status).toBe(204);
});

test("a search of events finds only what its caller may see", async () => {
  await using here = await site();
  const body = { ...askBody("aws"), holder: "hidden-job" };
  const { id, token } = asLease(await here.call("POST /v1/leases", { token: otherToken, body }));
  const drain = { drained: true, note: "hidden-reason", reason: "hidden-reason", by: "ada" };
  await here.call("PATCH /v1/resources/aws-2", { token: operator, body: drain });
  const found = async (by: string, query: string) => {
    const answer = await here.call(`GET /v1/events/past?${query}`, { token: by });
    return (answer.body as PageOf<FeedEvent>).items.map(({ type }) => type);
  };
  expect(await found(viewer, "text=hidden-job")).toEqual(["lease-granted"]);
  expect(await found(otherToken, "text=hidden-job")).toEqual(["lease-granted"]);
  expect(await found(holder, "text=hidden-job")).toEqual([]);
  expect(await found(viewer, "text=hidden-reason")).toEqual(["resource-changed"]);
  expect(await found(holder, "text=hidden-reason")).toEqual([]);
  expect(await found(holder, "text=drained")).toEqual(["resource-changed"]);
  await here.call(`DELETE /v1/leases/${id}`, { token });
  expect(await found(otherToken, "type=lease-ended&text=hidden-job")).toEqual(["lease-ended"]);
  expect(await found(holder, "type=lease-ended&pool=aws")).toEqual([]);
  expect(await found(holder, "trouble=true")).toEqual([]);
});

test("what holders of another space reported about the provider stays with them", async () => {
  const adaptive = { ...defaultAdaptive, mode: "auto" as const, min: 1, max: 60 };
  const paced = pool("paced", 2, { adaptive, pace: { everyMs: "auto", burst: 2, jitter: 0 } });
  await using here = await testSite([paced], {}, undefined, testAuth);
  const asked = { token: holder, body: askBody("paced") };
  const { id, token } = asLease(await here.call("POST /v1/leases", asked));
  const body = { throttled: true, evidence: "secret-account is throttled" };
  expect((await here.call(`POST /v1/leases/${id}/signal`, { token, body })).status).toBe(204);
  const history = async (by: string) => {
    return (await here.call("GET /v1/pools/paced/limit-history", { token: by })).text;
  };
  expect(await history(holder)).toContain("secret-account");
  expect(await history(viewer)).toContain("secret-account");
  expect(await history(otherToken)).not.toMatch(new RegExp(`secret-account|${id}`));
});
