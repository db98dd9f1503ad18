/** Every call of Boskos's, with what it answers, word for word; the ids are those of its own tests. */
import { beginning, no, type Row, step, testRows } from "./conformance.suite.ts";

/** A query in the order given. */
function query(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString();
}

/** The rows in which one of the parameters is missing, and then all of them. */
function missing(
  ids: readonly string[],
  call: string,
  parameters: Readonly<Record<string, string>>,
  text: (values: Readonly<Record<string, string>>) => string,
): Row[] {
  const names = Object.keys(parameters);
  const cases = [{}, ...names.map((name) => ({ ...parameters, [name]: "" }))];
  return cases.map((values, index) => ({
    id: ids[index] ?? `${ids.at(-1)}+`,
    seed: ["res:t/s/o"],
    steps: [
      no(`${call}?${query(without(values))}`, 400, text({ ...blank(names), ...values })),
      no(`${call}?${query(values)}`, 400, text({ ...blank(names), ...values }), {
        stored: ["res:t/s/o"],
      }),
    ],
  }));
}

function without(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

function blank(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, ""]));
}

const acquire = "POST /acquire?type=t&state=s&dest=d&owner=o";
const noneOfT = "Acquire failed: no available resource t, try again later.";
const noSuchType = 'Acquire failed: resource type "t" does not exist';
const json = (name: string, type = "t", state = "d", owner = "o", userdata = "{}") =>
  `{"type":"${type}","name":"${name}","state":"${state}","owner":"${owner}",` +
  `"lastupdate":"${beginning}","userdata":${userdata}}`;

testRows("POST /acquire", [
  {
    id: "A1 takes no other method",
    seed: ["res:t/s/"],
    steps: ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"].map((method) =>
      no(acquire.replace("POST", method), 405, `Method ${method}, /acquire only accepts POST.`, {
        stored: ["res:t/s/"],
      }),
    ),
  },
  ...missing(
    ["A2", "A3", "A4", "A5", "A6"],
    "POST /acquire",
    { type: "t", state: "s", owner: "o", dest: "d" },
    ({ type, state, dest, owner }) =>
      `Bad request: Type: ${type}, state: ${state}, dest: ${dest}, owner: ${owner}, all of them must be set in the request.`,
  ),
  { id: "A7, R1 nothing at all", steps: [no(acquire, 404, noSuchType)] },
  {
    id: "A8, R2 another type",
    seed: ["res:wrong/s/"],
    steps: [no(acquire, 404, noSuchType, { stored: ["res:wrong/s/"] })],
  },
  {
    id: "A9, R3 another state",
    seed: ["res:t/wrong/"],
    steps: [no(acquire, 404, noneOfT, { stored: ["res:t/wrong/"] })],
  },
  {
    id: "A10, R4 somebody else's",
    seed: ["res:t/s/user"],
    steps: [no(acquire, 404, noneOfT, { stored: ["res:t/s/user"] })],
  },
  {
    id: "A11, R5 there it is",
    seed: ["res:t/s/"],
    steps: [step(acquire, 200, json("res"), { stored: ["res:t/d/o"] }), no(acquire, 404, noneOfT)],
  },
  {
    id: "A12 a type that must be quoted",
    steps: [
      no(
        "POST /acquire?type=a%22b%0A%C2%A0%E2%82%AC&state=s&dest=d&owner=o",
        404,
        'Acquire failed: resource type "a\\"b\\n\\u00a0€" does not exist',
      ),
    ],
  },
  {
    id: "A13 the state stays what it was",
    seed: ["res:t/free/"],
    steps: [
      step("POST /acquire?type=t&state=free&dest=free&owner=o", 200, json("res", "t", "free"), {
        stored: ["res:t/free/o"],
      }),
      no("POST /acquire?type=t&state=free&dest=free&owner=p", 404, noneOfT),
    ],
  },
  {
    id: "A14 names and states are whatever people make of them",
    seed: ["res:t/res-7/"],
    steps: [
      step(
        "POST /acquire?type=t&state=res-7&dest=a+b%2Fc%3F&owner=pr/12%20%26+%3Cme%3E",
        200,
        json("res", "t", "a b/c?", "pr/12 \\u0026 \\u003cme\\u003e"),
        { stored: ["res:t/a b/c?/pr/12 & <me>"] },
      ),
    ],
  },
]);

testRows("POST /release", [
  {
    id: "L1",
    seed: ["res:t/s/merlin"],
    steps: [
      no(
        "GET /release?name=res&dest=d&owner=merlin",
        405,
        "Method GET, /release only accepts POST.",
        {
          stored: ["res:t/s/merlin"],
        },
      ),
    ],
  },
  ...missing(
    ["L2", "L3", "L4", "L5"],
    "POST /release",
    { name: "res", dest: "d", owner: "o" },
    ({ name, dest, owner }) =>
      `Name: ${name}, dest: ${dest}, owner: ${owner}, all of them must be set in the request.`,
  ),
  ...[["L6, R11"], ["L7, R13", "foo:t/s/merlin"]].map(([id = "", ...seed]) => ({
    id,
    seed,
    steps: [
      no(
        "POST /release?name=res&dest=d&owner=merlin",
        404,
        "Done failed: res - d (from merlin): no available resource res, try again later.",
        { stored: seed },
      ),
    ],
  })),
  {
    id: "L8, R12",
    seed: ["res:t/s/merlin"],
    steps: [
      no(
        "POST /release?name=res&dest=d&owner=foo",
        401,
        "Done failed: res - d (from foo): owner mismatch request by foo, currently owned by merlin",
        { stored: ["res:t/s/merlin"] },
      ),
    ],
  },
  {
    id: "L8 nobody's",
    seed: ["res:t/s/"],
    steps: [
      no(
        "POST /release?name=res&dest=d&owner=foo",
        401,
        "Done failed: res - d (from foo): owner mismatch request by foo, currently owned by ",
        { stored: ["res:t/s/"] },
      ),
    ],
  },
  {
    id: "L9, R14",
    seed: ["res:t/s/merlin"],
    steps: [step("POST /release?name=res&dest=d&owner=merlin", 200, "", { stored: ["res:t/d/"] })],
  },
]);

const reset = "POST /reset?type=t&state=s&expire=10m&dest=d";
const twentyMinutes = { afterMs: 20 * 60_000 };

testRows("POST /reset", [
  {
    id: "S1",
    steps: [no(reset.replace("POST", "GET"), 405, "Method GET, /reset only accepts POST.")],
  },
  ...missing(
    ["S2", "S3", "S4", "S5", "S6"],
    "POST /reset",
    { type: "t", state: "s", expire: "10m", dest: "d" },
    ({ type, state, expire, dest }) =>
      `Type: ${type}, state: ${state}, expire: ${expire}, dest: ${dest}, all of them must be set in the request.`,
  ),
  {
    id: "S7",
    seed: ["res:t/s/user"],
    steps: Object.entries({
      woooo: 'time: invalid duration "woooo"',
      "10": 'time: missing unit in duration "10"',
      "1x": 'time: unknown unit "x" in duration "1x"',
      "1h30": 'time: missing unit in duration "1h30"',
      "-": 'time: invalid duration "-"',
      ".s": 'time: invalid duration ".s"',
      "1d": 'time: unknown unit "d" in duration "1d"',
    }).map(([expire, text]) =>
      no(`POST /reset?type=t&state=s&expire=${expire}&dest=d`, 400, text, {
        stored: ["res:t/s/user"],
      }),
    ),
  },
  { id: "S8", seed: ["res:t/s/"], steps: [step(reset, 200, "{}", twentyMinutes)] },
  { id: "S9", seed: ["res:t/s/user"], steps: [step(reset, 200, "{}", { afterMs: 60_000 })] },
  { id: "S10", seed: ["res:u/s/user"], steps: [step(reset, 200, "{}", twentyMinutes)] },
  {
    id: "S11",
    seed: ["res:t/u/user"],
    steps: [step(reset, 200, "{}", { ...twentyMinutes, stored: ["res:t/u/user"] })],
  },
  {
    id: "S12",
    seed: ["res:t/s/user"],
    steps: [
      step(reset, 200, '{"res":"user"}', { ...twentyMinutes, stored: ["res:t/d/"] }),
      step(reset, 200, "{}"),
    ],
  },
  {
    id: "S12 just so long",
    seed: ["res:t/s/user"],
    steps: [step(reset, 200, '{"res":"user"}', { afterMs: 600_000 })],
  },
  ...["0", "0s", "-5m", "%2B0s", "0.0h"].map((expire) => ({
    id: `S13 expire=${expire} takes everything that is held`,
    seed: ["b:t/s/user", "a:t/s/u%2", "c:t/s/", "d:t/other/user"],
    steps: [
      step(`POST /reset?type=t&state=s&expire=${expire}&dest=free`, 200, '{"a":"u%2","b":"user"}', {
        stored: ["a:t/free/", "b:t/free/", "c:t/s/", "d:t/other/user"],
      }),
    ],
  })),
]);

const update = "POST /update?name=res&owner=merlin&state=s";
const updateFailed = "Update failed: res - s (merlin):";

testRows("POST /update", [
  {
    id: "U1",
    seed: ["res:t/s/merlin"],
    steps: [no(update.replace("POST", "GET"), 405, "Method GET, /update only accepts POST.")],
  },
  ...missing(
    ["U2", "U3", "U4", "U5"],
    "POST /update",
    { name: "res", owner: "o", state: "s" },
    ({ name, owner, state }) =>
      `Name: ${name}, owner: ${owner}, state : ${state}, all of them must be set in the request.`,
  ),
  {
    id: "U6, R17",
    steps: [no(update, 404, `${updateFailed} no available resource res, try again later.`)],
  },
  {
    id: "U7, R20",
    seed: ["res:t/s/merlin"],
    steps: [
      no(
        "POST /update?name=foo&owner=merlin&state=s",
        404,
        "Update failed: foo - s (merlin): no available resource foo, try again later.",
      ),
    ],
  },
  {
    id: "U8, R18",
    seed: ["res:t/s/evil"],
    steps: [
      no(update, 401, `${updateFailed} owner mismatch request by merlin, currently owned by evil`),
    ],
  },
  {
    id: "U9, R19",
    seed: ["res:t/s/merlin"],
    steps: [
      no(
        "POST /update?name=res&owner=merlin&state=d",
        409,
        "Update failed: res - d (merlin): state mismatch - expected s, current d",
        { stored: ["res:t/s/merlin"] },
      ),
    ],
  },
  {
    id: "U9 whose it is comes before what it is in",
    seed: ["res:t/s/evil"],
    steps: [
      no(
        "POST /update?name=res&owner=merlin&state=d",
        401,
        "Update failed: res - d (merlin): owner mismatch request by merlin, currently owned by evil",
      ),
    ],
  },
  {
    id: "U10, R21",
    seed: ["res:t/s/merlin"],
    steps: [step(update, 200, "", { stored: ["res:t/s/merlin"] })],
  },
]);

testRows("GET /metric", [
  {
    id: "M1",
    seed: ["res:t/s/"],
    steps: [no("POST /metric?type=t", 405, "/metric only accepts GET")],
  },
  {
    id: "M2",
    steps: [
      no("GET /metric", 400, "Type must be set in the request."),
      no("GET /metric?type=", 400, "Type must be set in the request."),
    ],
  },
  {
    id: "M3",
    steps: [no("GET /metric?type=foo", 404, "no available resource foo, try again later.")],
  },
  {
    id: "M4",
    seed: ["res:t/s/"],
    steps: [no("GET /metric?type=foo", 404, "no available resource foo, try again later.")],
  },
  {
    id: "M5",
    seed: ["res:t/s/merlin"],
    steps: [step("GET /metric?type=t", 200, '{"type":"t","current":{"s":1},"owner":{"merlin":1}}')],
  },
  {
    id: "R22",
    seed: [
      ...["res-1:t/s/merlin", "res-2:t/p/pony", "res-3:t/s/pony", "res-5:t/d/merlin"],
      ...["res-4:u/s/merlin", "res-6:t/s/"],
    ],
    steps: [
      step(
        "GET /metric?type=t",
        200,
        '{"type":"t","current":{"d":1,"p":1,"s":3},"owner":{"":1,"merlin":2,"pony":2}}',
      ),
    ],
  },
]);

const take = "POST /acquirebystate?state=state1&dest=newState&owner=o&names=test2,test3";

testRows("POST /acquirebystate", [
  {
    id: "names another call where it takes no other method",
    steps: [no(take.replace("POST", "GET"), 405, "Method GET, /acquire only accepts POST.")],
  },
  ...missing(
    ["C3", "C3 state", "C3 dest", "C3 owner", "C3 names"],
    "POST /acquirebystate",
    { state: "s", dest: "d", owner: "o", names: "res" },
    ({ state, dest, owner, names }) =>
      `state: ${state}, dest: ${dest}, owner: ${owner}, names: ${names} - all of them must be set in the request.`,
  ),
  {
    id: "C4",
    seed: ["test:type/dirty/"],
    steps: [
      no(
        "POST /acquirebystate?state=state1&dest=d&owner=o&names=test",
        404,
        "AcquireByState: no available resource state1, try again later.",
      ),
    ],
  },
  {
    id: "C5",
    seed: ["test1:a/dirty/", "test2:b/state1/", "test3:c/state1/", "test4:a/dirty/"],
    steps: [
      step(take, 200, `[${json("test2", "b", "newState")},${json("test3", "c", "newState")}]\n`, {
        stored: ["test1:a/dirty/", "test2:b/newState/o", "test3:c/newState/o", "test4:a/dirty/"],
      }),
    ],
  },
  {
    id: "C5 in the order in which they were last touched, not in that of the names",
    seed: ["b:t/s/", "a:t/s/", "c:u/x/o"],
    steps: [
      step("POST /release?name=c&dest=s&owner=o", 200, "", { afterMs: 1_000 }),
      step(
        "POST /acquirebystate?state=s&dest=d&owner=o&names=c,a,b",
        200,
        `[${json("b")},${json("a")},${json("c", "u")}]\n`.replaceAll("13:20Z", "13:21Z"),
      ),
    ],
  },
  {
    id: "C5 names that are there twice count once, and nothing is trimmed",
    seed: ["a:t/s/"],
    steps: [
      no(
        "POST /acquirebystate?state=s&dest=d&owner=o&names=a,+a",
        404,
        "AcquireByState: no available resource s, try again later.",
        { stored: ["a:t/s/"] },
      ),
      step("POST /acquirebystate?state=s&dest=d&owner=o&names=a,a", 200, `[${json("a")}]\n`),
    ],
  },
  {
    id: "C6",
    seed: ["test2:t/state1/foo", "test3:t/state1/foo"],
    steps: [no(take, 404, "AcquireByState: no available resource state1, try again later.")],
  },
]);

testRows("what it does not know", [
  {
    id: "D1",
    steps: ["GET /", "POST /", "HEAD /", "DELETE /acquire/", "PUT /metrics/x", "OPTIONS /a/b"].map(
      (call) => step(call, 200, ""),
    ),
  },
  {
    id: "D1 whatever is sent",
    seed: ["res:t/s/"],
    steps: [
      step("POST /Acquire?type=t&state=s&dest=d&owner=o", 200, "", { stored: ["res:t/s/"] }),
      ...["application/json", "application/xml", "nonsense", "multipart/form-data"].map((type) =>
        step("POST /unknown", 200, "", { body: "{", headers: { "content-type": type } }),
      ),
      step("PROPFIND /unknown", 200, ""),
    ],
  },
]);
