/** What the lease proxy's clients rely on, word for word; `x` is held by somebody else. */
import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../broker/hand-clock.suite.ts";
import { pool } from "../../core/lending.suite.ts";
import { JournalUnavailable } from "../../journal/journal.ts";
import { askBody, type TestSite, testSite } from "../test-site.suite.ts";

const pools = () => [pool("aws-1", ["aws-1_0"]), pool("t", ["foo", "bar"]), pool("a&b c", ["odd"])];

interface Row {
  readonly call: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly text: string | RegExp;
}

const post = (path: string, status: number, text: string | RegExp, body?: string): Row => ({
  call: `POST /lease/${path}`,
  status,
  text,
  ...(body === undefined ? undefined : { body }),
});

const rows: Record<string, Row> = {
  "one name": post("acquire?type=aws-1", 200, '{"names":["aws-1_0"]}'),
  "none at all": post("acquire?type=aws-1&count=0", 200, '{"names":[]}'),
  "none of a type that there is not": post("acquire?type=nope&count=0", 200, '{"names":[]}'),
  "another method": {
    call: "GET /lease/acquire?type=aws-1",
    status: 405,
    text: "Method GET not allowed, POST requests only.\n",
  },
  "no type": post("acquire", 400, "type is required\n"),
  "an unknown type": post(
    "acquire?type=invalid",
    404,
    'Failed to acquire lease "invalid": resource type not found\n',
  ),
  "a release with another method": {
    call: "GET /lease/release",
    status: 405,
    text: "Method GET not allowed, POST requests only.\n",
  },
  "a count of letters": post(
    "acquire?type=t&count=abc",
    400,
    'parameter "count" is not valid: abc\n',
  ),
  "a negative count": post("acquire?type=t&count=-1", 400, 'parameter "count" is not valid: -1\n'),
  "half a count": post("acquire?type=t&count=1.5", 400, 'parameter "count" is not valid: 1.5\n'),
  "an empty count": post("acquire?type=t&count=", 200, '{"names":["foo"]}'),
  "the first of two values": post("acquire?type=t&type=aws-1", 200, '{"names":["foo"]}'),
  "several, whole": post("acquire?type=t&count=2", 200, '{"names":["foo","bar"]}'),
  "a plus for a space": post("acquire?type=a%26b+c&count=1", 200, '{"names":["odd"]}'),
  "more than there can ever be": post("acquire?type=t&count=3", 422, /^Failed to .* it has 2\n$/),
  "a duration that is none": post("acquire?type=t&timeout=soon", 400, /"timeout" is not valid/),
  "a release without a body": post(
    "release",
    400,
    "unmarshal request body: unexpected end of JSON input\n",
  ),
  "a release of nothing": post("release", 204, "", "{}"),
  "a release of an empty list": post("release", 204, "", '{"names":[]}'),
  "a release of null": post("release", 204, "", '{"names":null}'),
  "a release with more than names": post("release", 204, "", '{"names":[],"more":1}'),
  "a release of a bare list": post("release", 400, /^unmarshal request body: /, '["a"]'),
  "a release of what is no JSON": post("release", 400, /^unmarshal request body: /, "{names"),
  "a release of a name that is not held": post("release", 204, "", '{"names":["x"]}'),
  "the same, strictly": {
    ...post(
      "release",
      500,
      "Failed to release lease x: no resource name x\nReleased: \n",
      '{"names":["x"]}',
    ),
    headers: { prefer: "handling=strict" },
  },
  "another path": post("renew", 404, "404 page not found\n"),
};

test.each(Object.entries(rows))("the lease proxy answers %s", async (_, row) => {
  await using site = await testSite(pools());
  const { call, body, headers = {}, status, text } = row;
  const answer = await send(site, call, { "content-type": "text/x-whatever", ...headers }, body);
  expect({ status: answer.status, text: answer.text }).toEqual({
    status,
    text: text instanceof RegExp ? expect.stringMatching(text) : text,
  });
  const type = status === 200 ? "application/json" : "text/plain; charset=utf-8";
  expect(answer.headers["content-type"]).toBe(status === 204 ? undefined : type);
  if (status >= 400) expect(answer.headers["x-content-type-options"]).toBe("nosniff");
});

interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** On a connection of its own: whether an answer gets through only shows on a real one. */
function open(url: string, line: string, headers = {}, body?: string) {
  const [method = "", path = ""] = line.split(" ");
  const call = request(`${url}${path}`, { method, agent: false, headers });
  const answer = once(call, "response").then(async ([response]: IncomingMessage[]) => {
    if (response === undefined) throw new Error("There was no answer");
    let text = "";
    for await (const chunk of response) text += chunk;
    const { statusCode: status = 0, headers: told } = response;
    return { status, text, headers: told } satisfies Told;
  });
  answer.catch(() => {});
  call.end(body);
  return { call, answer };
}

const urls = new WeakMap<TestSite, Promise<string>>();
async function send(site: TestSite, line: string, headers = {}, body?: string): Promise<Told> {
  const listening = urls.get(site) ?? site.listen();
  urls.set(site, listening);
  return open(await listening, line, headers, body).answer;
}

const acquire = (site: TestSite, query: string, headers = {}) =>
  send(site, `POST /lease/acquire?${query}`, headers);
const release = (site: TestSite, names: string[], headers = {}) =>
  send(site, "POST /lease/release", headers, JSON.stringify({ names }));
const states = (site: TestSite) =>
  site.broker.look(({ resources }) =>
    Object.fromEntries([...resources.values()].map(({ name, state }) => [name, state])),
  );

describe("a release", () => {
  test("gives back what is named and nothing else, and again is fine", async () => {
    await using site = await testSite(pools());
    await acquire(site, "type=t&count=2");
    expect(await states(site)).toMatchObject({ foo: "leased", bar: "leased" });
    expect((await release(site, ["foo"])).status).toBe(204);
    expect(await states(site)).toMatchObject({ foo: "free", bar: "leased" });
    const again = await release(site, ["foo", "bar"]);
    expect(again.status).toBe(204);
    expect(decodeURI(String(again.headers["berth-note"]))).toBe("not held, or no longer: foo");
    expect(await states(site)).toMatchObject({ foo: "free", bar: "free" });
  });

  test("goes where the pool says", async () => {
    await using site = await testSite([pool("t", ["foo"], { onRelease: "dirty" })]);
    await acquire(site, "type=t");
    await release(site, ["foo"]);
    expect(await states(site)).toEqual({ foo: "dirty" });
  });

  test("tells what was given back before one failed", async () => {
    await using site = await testSite(pools());
    await acquire(site, "type=t&count=2");
    site.broker.listen({
      committed: () => {
        site.journal.appendFails = new JournalUnavailable("injected");
      },
    });
    const half = await release(site, ["foo", "bar"]);
    expect(half.status).toBe(500);
    expect(half.text).toEqual(
      expect.stringMatching(/^Failed to release lease bar: .*\nReleased: foo\n$/),
    );
    const refused = await acquire(site, "type=aws-1");
    expect(refused.status).toBe(503);
    expect(refused.text).toMatch(/^Failed to acquire lease "aws-1": Cannot write the journal/);
  });

  test("does not touch what another holds, nor what is held with a token", async () => {
    await using site = await testSite(pools());
    await acquire(site, "type=aws-1", { "berth-holder": "job-1" });
    await site.call("POST /v1/leases", { body: askBody("t:2", { holder: "job-2" }) });
    for (const holder of ["job-2", "lease-proxy@127.0.0.1"]) {
      await release(site, ["aws-1_0", "foo", "bar"], { "berth-holder": holder });
    }
    expect(await states(site)).toMatchObject({ "aws-1_0": "leased", foo: "busy", bar: "busy" });
  });
});

describe("the holder", () => {
  const basic = `Basic ${Buffer.from("ci-op:secret").toString("base64")}`;
  test.each([
    ["the header", { "berth-holder": " job-1 ", authorization: basic }, "job-1"],
    ["the credentials", { authorization: basic }, "ci-op"],
    ["the address otherwise", {}, "lease-proxy@127.0.0.1"],
  ])("is taken from %s", async (_, headers, holder) => {
    await using site = await testSite(pools());
    await acquire(site, "type=aws-1", headers);
    const held = await site.broker.look(({ leases }) =>
      [...leases.values()].map(({ ask }) => ask.holder),
    );
    expect(held).toEqual([holder]);
  });
});

const waiting = (site: TestSite) => site.broker.look(({ requests }) => requests.size);

describe("an acquire that has to wait", () => {
  let site: TestSite;
  let url: string;
  beforeAll(async () => {
    site = await testSite(pools());
    const listening = site.listen();
    urls.set(site, listening);
    url = await listening;
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("holds nothing until it gets all of it, and is then answered at once", async () => {
    await acquire(site, "type=t");
    const both = open(url, "POST /lease/acquire?type=t&count=2");
    await until(() => site.broker.openWaits === 1);
    expect(await states(site)).toMatchObject({ foo: "leased", bar: "free" });
    await release(site, ["foo"]);
    expect(await both.answer).toMatchObject({ status: 200, text: '{"names":["bar","foo"]}' });
    await release(site, ["foo", "bar"]);
  });

  test("ends with the words that clients know when its time is over", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1");
    await until(() => site.broker.openWaits === 1);
    await site.clock.advance(2 * 3_600_000);
    expect(await asked.answer).toMatchObject({
      status: 500,
      text: 'Failed to acquire lease "aws-1": resources not found\n',
    });
    expect(await waiting(site)).toBe(0);
    const now = await acquire(site, "type=aws-1&timeout=0s");
    expect([now.status, now.text]).toEqual([
      409,
      'Failed to acquire lease "aws-1": resources not found\n',
    ]);
    await release(site, ["aws-1_0"]);
  });

  test("leaves the queue when its client hangs up", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1");
    await until(() => site.broker.openWaits === 1);
    asked.call.destroy();
    await until(() => site.journal.appends.flat().at(-1)?.type === "request-left");
    expect(await waiting(site)).toBe(0);
    await release(site, ["aws-1_0"]);
    expect(await states(site)).toMatchObject({ "aws-1_0": "free" });
  });

  test("finds its place again with an idempotency key, and what it was lent meanwhile", async () => {
    await acquire(site, "type=aws-1");
    const asked = open(url, "POST /lease/acquire?type=aws-1", { "idempotency-key": "k" });
    await until(() => site.broker.openWaits === 1);
    asked.call.destroy();
    await until(() => site.broker.openWaits === 0);
    await release(site, ["aws-1_0"]);
    const again = await acquire(site, "type=aws-1", { "idempotency-key": "k" });
    expect(again.text).toBe('{"names":["aws-1_0"]}');
    const lost = await acquire(site, "type=aws-1", { "idempotency-key": "k" });
    expect(lost.headers["berth-lease"]).toBe(again.headers["berth-lease"]);
    await release(site, ["aws-1_0"]);
  });
});

test("a lease of which nobody speaks again ends by itself", async () => {
  await using site = await testSite(pools());
  await acquire(site, "type=aws-1");
  await site.clock.advance(4 * 3_600_000);
  expect(await states(site)).toMatchObject({ "aws-1_0": "free" });
});
