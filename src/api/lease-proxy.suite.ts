/** What the lease proxy's clients rely on, word for word, whoever serves it; nobody holds `x`. */
import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { expect } from "vitest";
import { pool } from "../core/decide/lending.suite.ts";

export const proxyPools = () => [
  pool("aws-1", ["aws-1_0"]),
  pool("t", ["foo", "bar"]),
  pool("a&b c", ["odd"]),
];

export interface Row {
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

export const rows: Record<string, Row> = {
  "one name": post("acquire?type=aws-1", 200, '{"names":["aws-1_0"]}'),
  "none at all": post("acquire?type=aws-1&count=0", 200, '{"names":[]}'),
  "none of a type that there is not": post("acquire?type=nope&count=0", 200, '{"names":[]}'),
  "another method": {
    call: "GET /lease/acquire?type=aws-1",
    status: 405,
    text: "Method GET not allowed, POST requests only.\n",
  },
  "another method before anything else": {
    call: "GET /lease/acquire?count=abc",
    status: 405,
    text: "Method GET not allowed, POST requests only.\n",
  },
  "no type": post("acquire", 400, "type is required\n"),
  "no type before a bad count": post("acquire?count=abc", 400, "type is required\n"),
  "an empty type": post("acquire?type=", 400, "type is required\n"),
  "a bad count of a type that there is not": post(
    "acquire?type=nope&count=abc",
    400,
    'parameter "count" is not valid: abc\n',
  ),
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
  "a release of half a character": post("release", 204, "", '{"names":["\\ud800"]}'),
  "a release of more unknown names than a header may have": post(
    "release",
    204,
    "",
    JSON.stringify({ names: Array.from({ length: 4_000 }, (_, index) => `unknown-${index}`) }),
  ),
  "a release of deeply nested lists": post(
    "release",
    400,
    /^unmarshal request body: /,
    `{"names":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
  ),
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

export function expectRow({ status, text }: Row, answer: Told): void {
  expect({ status: answer.status, text: answer.text }).toEqual({
    status,
    text: text instanceof RegExp ? expect.stringMatching(text) : text,
  });
  const type = status === 200 ? "application/json" : "text/plain; charset=utf-8";
  expect(answer.headers["content-type"]).toBe(status === 204 ? undefined : type);
  if (status >= 400) expect(answer.headers["x-content-type-options"]).toBe("nosniff");
}

export interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** On a connection of its own: whether an answer gets through only shows on a real one. */
export function open(url: string, line: string, headers = {}, body?: string) {
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
