import { expect, test } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";
import { JournalUnavailable } from "../journal/journal.ts";
import { type Answer, askBody, asLease, asRequest, testSite } from "./test-site.suite.ts";

const secret = "hunter2-s3cret";
/** Who repeats a request with its id is told the token. */
const key = "own-request-id-17";

/** A day with a secret in it: everything that anybody but the holder was told, and the log. */
test("no listing, feed, error, metric or log has user data or a token in it", async () => {
  await using site = await testSite([pool("aws", 2)]);
  const public_: Answer[] = [];
  const ask = async (line: string, call?: Parameters<typeof site.call>[1]) => {
    const answer = await site.call(line, call);
    public_.push(answer);
    return answer;
  };
  await ask("PATCH /v1/resources/aws-1", { body: { userData: { password: secret } } });
  const lease = asLease(
    await site.call("POST /v1/leases", { body: askBody("aws:2", { requestId: key }) }),
  );
  const waits = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
  expect(lease.claims[0]?.userData).toEqual({ password: secret });

  const looks = ["leases", "requests", "pools", "resources", "resources/aws-1", "config"];
  const one = [
    `leases/${lease.id}`,
    `requests/${lease.id}`,
    `requests/${key}`,
    `explain/${waits.id}`,
  ];
  for (const path of [...looks, ...one]) await ask(`GET /v1/${path}`);
  for (const path of ["metrics", "openapi.json", "healthz"]) await ask(`GET /${path}`);

  const wrong = { token: waits.token };
  await ask(`POST /v1/leases/${lease.id}/heartbeat`, wrong);
  await ask(`DELETE /v1/leases/${lease.id}`, wrong);
  await ask(`GET /v1/leases/${lease.id}`, wrong);
  const patches = [
    { userData: { password: secret.repeat(2_000) } },
    { userData: { password: { nested: secret } } },
    { userData: [secret] },
    { userData: secret },
    { userdata: { password: secret } },
    [{ userData: { password: secret } }],
    { state: { userData: secret } },
    `{"userData": {"password": "${secret}"`,
    `{"userData": {"password": "${secret}"}} ${secret}`,
  ];
  for (const body of patches) {
    const answer = await ask("PATCH /v1/resources/aws-1", { body });
    expect(answer.status, JSON.stringify(body).slice(0, 80)).toBe(400);
  }
  site.journal.appendFails = new JournalUnavailable("Cannot append: the disk is full");
  await ask("PATCH /v1/resources/aws-1", { body: { userData: { password: `${secret}!` } } });
  await ask(`DELETE /v1/leases/${lease.id}`, { token: lease.token });

  for (const { text } of public_) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(key);
    expect(text).not.toContain(lease.token);
    expect(text).not.toContain(waits.token);
  }
  expect(site.log()).not.toContain(secret);
  expect(site.log()).not.toContain(lease.token);
});

test("the journal keeps no token", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const { token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
  const { token: other } = asRequest(await site.call("POST /v1/leases", { body: askBody("aws") }));
  const kept = JSON.stringify(site.journal.appends) + (await site.state());
  expect(kept).not.toContain(token);
  expect(kept).not.toContain(other);
});
