import { describe, expect, test } from "vitest";
import type { AuthSpec } from "../auth/auth-spec.ts";
import type { Role } from "../auth/roles.ts";
import { tokenHash } from "../auth/static-tokens.ts";
import { otherToken, testAuth, testTokens } from "../auth/test-tokens.suite.ts";
import { settled, until } from "../broker/hand-clock.suite.ts";
import { pool } from "../core/decide/lending.suite.ts";
import { askBody, asLease, type TestSite, testSite } from "./test-site.suite.ts";

interface Told {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A reader of the feed that keeps all it has read. */
class Reader {
  readonly told: Told[] = [];
  text = "";
  ended = false;
  readonly #abort = new AbortController();
  response: Response | undefined;

  async open(url: string, headers: Record<string, string> = {}): Promise<this> {
    this.response = await fetch(url, { headers, signal: this.#abort.signal });
    void this.#read(this.response).catch(() => {
      this.ended = true;
    });
    return this;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read({ body }: Response): Promise<void> {
    if (body === null) return;
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of body) {
      const text = decoder.decode(chunk, { stream: true });
      this.text += text;
      const parts = (rest + text).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#take(part);
    }
    this.ended = true;
  }

  #take(part: string): void {
    const [, id, event, data] = /^id: (\d+)\nevent: (.*)\ndata: (.*)$/.exec(part) ?? [];
    if (id === undefined || event === undefined || data === undefined) return;
    this.told.push({ id: Number(id), event, data: JSON.parse(data) });
  }
}

async function listening(): Promise<{ site: TestSite; url: string }> {
  const site = await testSite([pool("aws", 2)]);
  return { site, url: `${await site.listen()}/v1/events` };
}

async function churn(site: TestSite, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { id, token } = asLease(await site.call("POST /v1/leases", { body: askBody("aws") }));
    await site.call(`DELETE /v1/leases/${id}`, { token });
  }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("GET /v1/events", () => {
  test("tells what happens from now on, numbered, with its type and time", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const start = site.broker.head;
    const reader = await new Reader().open(url);
    expect(reader.response?.headers.get("content-type")).toBe("text/event-stream");
    await churn(site, 1);
    await until(() => reader.told.length === 2);
    expect(reader.told).toMatchObject([
      {
        id: start + 1,
        event: "lease-granted",
        data: { seq: start + 1, at: "2023-11-14T22:13:20.000Z" },
      },
      { id: start + 2, event: "lease-ended", data: { why: "released" } },
    ]);
    reader.close();
  });

  test("says which value digest can have", async () => {
    await using site = await testSite([]);
    const { status, body } = await site.call("GET /v1/events?digest=maybe");
    expect(status).toBe(400);
    expect(body).toMatchObject({ detail: 'Cannot read querystring.digest: "maybe" is not true' });
  });

  test("with digest, tells which kinds of events happened, and nothing of the past", async () => {
    const { site, url } = await listening();
    await using _site = site;
    await churn(site, 2);
    const reader = await new Reader().open(`${url}?digest=true`, { "last-event-id": "1" });
    await churn(site, 3);
    const counted = () => reader.told.reduce((sum, { data }) => sum + Number(data["count"]), 0);
    await until(() => counted() === 6);
    expect(reader.told.every(({ event }) => event === "digest")).toBe(true);
    expect(reader.told.at(-1)?.id).toBe(site.broker.head);
    const kinds = new Set(reader.told.flatMap(({ data }) => data["types"]));
    expect(kinds).toEqual(new Set(["lease-granted", "lease-ended"]));
    expect(reader.text).not.toContain("holder");
    reader.close();
  });

  test.each([
    ["Last-Event-ID", (after: number) => [{ "last-event-id": String(after) }, ""] as const],
    ["after", (after: number) => [{}, `?after=${after}`] as const],
    [
      "both, of which the header counts",
      (after: number) => [{ "last-event-id": String(after) }, "?after=0"] as const,
    ],
  ])("resumes by %s", async (_, make) => {
    const { site, url } = await listening();
    await using _site = site;
    await churn(site, 5);
    const [headers, query] = make(4);
    const reader = await new Reader().open(url + query, headers);
    await until(() => reader.told.length >= site.broker.head - 4);
    await churn(site, 1);
    await until(() => reader.told.length >= site.broker.head - 4);
    expect(reader.told.map(({ id }) => id)).toEqual(numbers(5, site.broker.head));
    reader.close();
  });

  test("starts now for an id from the future, and for an empty one", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const future = await new Reader().open(url, { "last-event-id": "999999" });
    const empty = await new Reader().open(url, { "last-event-id": "" });
    const start = site.broker.head;
    await churn(site, 1);
    await until(() => future.told.length === 2 && empty.told.length === 2);
    expect([future, empty].map(({ told }) => told[0]?.id)).toEqual([start + 1, start + 1]);
    future.close();
    empty.close();
  });

  test("has no gap and no repetition, however often a reader comes back under load", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const seen: number[] = [];
    let busy = true;
    const load = (async () => {
      for (let round = 0; round < 60; round++) {
        await Promise.all([churn(site, 1), churn(site, 1)]);
      }
      busy = false;
    })();
    const start = site.broker.head;
    let last = start;
    while (busy || last < site.broker.head) {
      const reader = await new Reader().open(url, { "last-event-id": String(last) });
      const at = () => reader.told.at(-1)?.id ?? last;
      await until(() => at() >= last + 7 || (!busy && at() === site.broker.head));
      reader.close();
      seen.push(...reader.told.map(({ id }) => id));
      last = seen.at(-1) ?? last;
      await settled();
    }
    await load;
    expect(seen).toEqual(numbers(start + 1, site.broker.head));
  });

  test("does not repeat what it has read before its writer was told", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const start = site.broker.head;
    const reply = Promise.withResolvers<void>();
    site.journal.repliesAfter = reply.promise;
    const granted = site.call("POST /v1/leases", { body: askBody("aws") });
    await until(() => site.journal.head === start + 1);
    const reader = await new Reader().open(url, { "last-event-id": String(start) });
    await until(() => reader.told.length === 1);
    site.journal.repliesAfter = undefined;
    reply.resolve();
    await granted;
    await churn(site, 1);
    await until(() => reader.told.at(-1)?.id === site.broker.head);
    expect(reader.told.map(({ id }) => id)).toEqual(numbers(start + 1, start + 3));
    reader.close();
  });

  test("leaves nothing out that is committed while it catches up", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const read = site.journal.read.bind(site.journal);
    let rounds = 0;
    site.journal.read = async function* (seq) {
      yield* read(seq);
      if (rounds++ < 3) await churn(site, 1);
    };
    const reader = await new Reader().open(`${url}?after=0`);
    await until(() => rounds >= 4 && reader.told.at(-1)?.id === site.broker.head);
    expect(reader.told.map(({ id }) => id)).toEqual(numbers(1, site.broker.head));
    reader.close();
  });

  test("tells of a commit whose outcome its writer did not learn", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const reader = await new Reader().open(url);
    site.journal.losesNextReply = new (await import("../journal/journal.ts")).JournalUnavailable(
      "x",
    );
    const answer = await site.call("POST /v1/leases", { body: askBody("aws", { requestId: "k" }) });
    expect(answer.status).toBe(503);
    await until(() => reader.told.length === 1);
    await site.clock.advance(2_000);
    await churn(site, 1);
    await until(() => reader.told.length === 3);
    expect(reader.told.map(({ id }) => id)).toEqual(
      numbers(site.broker.head - 2, site.broker.head),
    );
    reader.close();
  });

  test("never tells user data, only which keys change", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const reader = await new Reader().open(`${url}?after=0`);
    await site.call("PATCH /v1/resources/aws-1", { body: { userData: { key: "s3cret" } } });
    await churn(site, 2);
    await until(() => reader.told.at(-1)?.id === site.broker.head);
    expect(reader.text).not.toContain("s3cret");
    expect(reader.told.find(({ event }) => event === "resource-changed")?.data).toMatchObject({
      userDataKeys: ["key"],
    });
    reader.close();
  });

  test("says so when the events to resume from are no longer kept", async () => {
    const { site } = await listening();
    await using _site = site;
    await churn(site, 3);
    const state = await site.state();
    await site.journal.saveSnapshot({ seq: site.broker.head, at: site.clock.now(), state });
    await site.journal.prune((site.clock.now() + 1) as never);
    expect(await site.call("GET /v1/events", { headers: { "last-event-id": "1" } })).toMatchObject({
      status: 410,
      type: "application/problem+json",
      body: { code: "events_pruned" },
    });
  });

  test("ends when the server closes", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const readers = await Promise.all([1, 2, 3].map(() => new Reader().open(url)));
    await until(() => readers.every(({ text }) => text !== ""));
    await site.app.close();
    await until(() => readers.every(({ ended }) => ended));
  });

  test("survives a reader that does not read, while the server closes and goes on committing", async () => {
    const { site, url } = await listening();
    await using _site = site;
    const response = await fetch(url);
    const closing = site.app.close();
    await churnBroker(site);
    await response.body?.cancel();
    await closing;
  });
});

async function churnBroker(site: TestSite): Promise<void> {
  for (let number = 0; number < 50; number++) {
    await site.broker.submit({
      type: "change-resource",
      resource: "aws-1" as never,
      change: { note: `${number}`.repeat(5_000) },
      reason: { by: "", why: "" },
    });
  }
}

test("GET /v1/events lets go of a reader that hangs up, at whatever moment", async () => {
  const { site, url } = await listening();
  await using _site = site;
  let listeners = 0;
  const listen = site.broker.listen.bind(site.broker);
  site.broker.listen = (listener) => {
    listeners += 1;
    const stop = listen(listener);
    return () => {
      listeners -= 1;
      stop();
    };
  };
  const late = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const read = site.journal.read.bind(site.journal);
  site.journal.read = async function* (seq) {
    asked.resolve();
    await late.promise;
    yield* read(seq);
  };
  const serverSawIt = new Promise((resolve) => {
    site.app.server.once("connection", (socket) => socket.once("close", resolve));
  });
  const hungUp = new AbortController();
  const early = fetch(url, { signal: hungUp.signal }).catch(() => "hung up");
  await asked.promise;
  hungUp.abort();
  await early;
  await serverSawIt;
  late.resolve();
  await settled();
  expect(listeners).toBe(0);
});

test("GET /v1/events tells a commit of thousands of events whole, live and from the past", async () => {
  const { site, url } = await listening();
  await using _ = site;
  const live = await new Reader().open(url);
  await site.broker.submit({ type: "configure", pools: [pool("aws", 5_000)] });
  await churn(site, 1);
  const past = await new Reader().open(`${url}?after=0`);
  await until(() => live.told.at(-1)?.id === site.broker.head);
  await until(() => past.told.length === site.broker.head);
  expect(past.told.map(({ id }) => id)).toEqual(numbers(1, site.broker.head));
  const start = live.told[0]?.id ?? 0;
  expect(live.told.map(({ id }) => id)).toEqual(numbers(start, site.broker.head));
  live.close();
  past.close();
});

test("GET /v1/events cuts a reader off, when the journal cannot be read on", async () => {
  const { site, url } = await listening();
  await using _ = site;
  await churn(site, 3);
  const read = site.journal.read.bind(site.journal);
  site.journal.read = async function* (seq) {
    for await (const recorded of read(seq)) {
      if (recorded.seq > 5) throw new Error("Cannot read: the disk is failing");
      yield recorded;
    }
  };
  const reader = new Reader();
  await reader.open(`${url}?after=0`).catch(() => {
    reader.ended = true; // Cut off before its first bytes were on their way.
  });
  await until(() => reader.ended);
  expect(reader.told.length).toBeLessThan(site.broker.head);
});

test("GET /v1/events never tells a request id, with which anybody could ask for the token", async () => {
  const { site, url } = await listening();
  await using _ = site;
  const body = (holder: string) => askBody("aws:2", { holder, requestId: `own-id-of-${holder}` });
  await site.call("POST /v1/leases", { body: body("holds") });
  await site.call("POST /v1/leases", { body: body("waits") });
  const reader = await new Reader().open(`${url}?after=0`);
  await until(() => reader.told.length === site.broker.head);
  expect(reader.text).toContain('"holder":"waits"');
  expect(reader.text).not.toContain("own-id-of");
  reader.close();
});

test("HEAD /v1/events has the headers of a feed and ends", async () => {
  await using site = await testSite([pool("aws", 1)]);
  const response = await fetch(`${await site.listen()}/v1/events`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await response.text()).toBe("");
  // A HEAD that opened a feed would be counted as one until the server ends.
  expect((await site.call("HEAD /v1/events")).status).toBe(200);
});

describe("when auth of the configuration changes, an open feed", () => {
  const shown = "the holder of another space";

  async function opened(token: string) {
    const site = await testSite([pool("aws", 9)], {}, undefined, testAuth);
    const url = `${await site.listen()}/v1/events`;
    const reader = await new Reader().open(url, { authorization: `Bearer ${token}` });
    const happen = async (): Promise<void> => {
      const body = { ...askBody("aws"), holder: shown };
      expect((await site.call("POST /v1/leases", { body, token: otherToken })).status).toBe(201);
    };
    await happen();
    await until(() => reader.told.length > 0);
    return { site, reader, happen };
  }
  const changed = (token: string, role: Role | undefined): AuthSpec => ({
    tokens: (testAuth.tokens ?? []).flatMap((one) => {
      if (one.sha256 !== tokenHash(token)) return [one];
      return role === undefined ? [] : [{ ...one, role }];
    }),
  });

  test.each([
    ["its token is removed", undefined],
    ["its token becomes a holder's", "holder" as const],
  ])("shows nothing more and ends if %s", async (_, role) => {
    const { site, reader, happen } = await opened(testTokens.viewer);
    await using _site = site;
    expect(reader.text).toContain(shown);
    const before = reader.told.length;
    site.auth.configure(changed(testTokens.viewer, role));
    await happen();
    await until(() => reader.ended);
    expect(reader.told).toHaveLength(before);
  });

  test("goes on without a gap if its token may still see the same", async () => {
    const { site, reader, happen } = await opened(testTokens.viewer);
    await using _site = site;
    site.auth.configure(changed(testTokens.viewer, "operator"));
    const { length } = reader.told;
    await happen();
    await happen();
    await until(() => reader.told.length === length + 2);
    expect(reader.ended).toBe(false);
    const ids = reader.told.map(({ id }) => id);
    expect(ids).toEqual(numbers(ids[0] ?? 0, (ids[0] ?? 0) + ids.length - 1));
    reader.close();
  });
});
