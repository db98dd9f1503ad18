/** Who comes first, what is lent first, and what becomes of user data: over several calls. */
import { beginning, no, type Row, type Step, step, testRows } from "./conformance.suite.ts";

const free = "POST /acquire?type=t&state=free&dest=busy";
const none = "Acquire failed: no available resource t, try again later.";

/** So many seconds after the beginning, as Boskos writes it. */
function later(seconds: number): string {
  return new Date(Date.parse(beginning) + seconds * 1_000).toISOString().replace(".000Z", "Z");
}

interface Lent {
  readonly type?: string;
  readonly owner?: string;
  readonly at?: number;
  readonly userdata?: string;
  readonly expires?: number;
  readonly state?: string;
}

function lent(name: string, how: Lent = {}): string {
  const { type = "t", owner = "o", at = 0, userdata = "{}", expires, state = "busy" } = how;
  const head = `{"type":"${type}","name":"${name}","state":"${state}","owner":"${owner}",`;
  const expiration = expires === undefined ? "" : `,"expiration-date":"${later(expires)}"`;
  return `${head}"lastupdate":"${later(at)}","userdata":${userdata}${expiration}}`;
}

const waits = (owner: string, id = "", more: Partial<Step> = {}): Step =>
  no(`${free}&owner=${owner}${id === "" ? "" : `&request_id=${id}`}`, 404, none, more);
const gets = (owner: string, id: string, name: string, how: Lent = {}): Step =>
  step(
    `${free}&owner=${owner}${id === "" ? "" : `&request_id=${id}`}`,
    200,
    lent(name, { owner, ...how }),
  );
const gives = (owner: string, name: string, dest = "free"): Step =>
  step(`POST /release?name=${name}&dest=${dest}&owner=${owner}`, 200, "");

testRows("who comes first", [
  {
    id: "R6, R7, R8",
    seed: ["res:t/busy/x"],
    steps: [
      waits("o", "1"),
      gives("x", "res"),
      waits("p"),
      waits("q", "2"),
      gets("o", "1", "res"),
      gives("o", "res"),
      waits("o", "1"),
      waits("p"),
      // Nobody has come back for it, so it goes on.
      { ...gets("p", "", "res", { at: 31 }), afterMs: 31_000 },
    ],
  },
  {
    id: "Q1, Q2 one by one, in the order of their first call, whoever calls first now",
    seed: ["res:t/busy/x"],
    steps: [
      ...["a", "b", "c", "d"].map((owner) => waits(owner, owner)),
      waits("e"),
      gives("x", "res"),
      ...["e", "d", "c", "b"].map((owner) => waits(owner, owner === "e" ? "" : owner)),
      gets("a", "a", "res"),
      gives("a", "res"),
      ...["e", "d", "c"].map((owner) => waits(owner, owner === "e" ? "" : owner)),
      gets("b", "b", "res"),
      gives("b", "res"),
      gets("c", "c", "res"),
      gives("c", "res"),
      waits("e"),
      gets("d", "d", "res"),
      gives("d", "res"),
      gets("e", "", "res"),
    ],
  },
  {
    id: "Q3 who is gone holds nobody up",
    seed: ["res:t/busy/x"],
    steps: [
      waits("a", "a"),
      { ...gives("x", "res"), afterMs: 31_000 },
      gets("b", "", "res", { at: 31 }),
    ],
  },
  {
    id: "Q4 a place is kept for as long as one calls",
    seed: ["res:t/busy/x"],
    steps: [
      waits("a", "a"),
      waits("b", "b"),
      waits("a", "a", { afterMs: 20_000 }),
      waits("b", "b"),
      waits("a", "a", { afterMs: 20_000 }),
      waits("b", "b"),
      gives("x", "res"),
      waits("b", "b"),
      gets("a", "a", "res", { at: 40 }),
    ],
  },
  {
    id: "a line is for one type and one state",
    seed: ["r:t/busy/x", "d:t/dirty/", "u:u/free/"],
    steps: [
      waits("a", "a"),
      step(
        "POST /acquire?type=t&state=dirty&dest=cleaning&owner=j",
        200,
        lent("d", { owner: "j", state: "cleaning" }),
      ),
      step("POST /acquire?type=u&state=free&dest=busy&owner=o", 200, lent("u", { type: "u" })),
    ],
  },
  {
    id: "the first ones in line have as many as there are, at once",
    seed: ["r1:t/busy/x", "r2:t/busy/x", "r3:t/free/"],
    steps: [
      gets("a", "a", "r3"),
      waits("b", "b"),
      waits("c", "c"),
      gives("x", "r2"),
      gives("x", "r1"),
      gets("c", "c", "r1"),
      gets("b", "b", "r2"),
    ],
  },
]);

const grown = (dynamic: object): Pick<Row, "policies"> => ({
  policies: { t: { dynamic: { min: 0, max: 2, state: "free", lifespanMs: null, ...dynamic } } },
});

testRows("what is lent", [
  {
    id: "R10 the longest untouched first",
    seed: ["b:t/free/", "a:t/free/", "d:t/free/", "c:t/free/"],
    steps: ["b", "a", "d", "c", "b"].flatMap((name) => [gets("o", "", name), gives("o", name)]),
  },
  {
    id: "R10 touched is who is released, reset and heartbeats",
    seed: ["a:t/free/", "b:t/busy/o", "c:t/busy/o"],
    steps: [
      step("POST /update?name=c&owner=o&state=busy", 200, ""),
      step("POST /reset?type=t&state=busy&expire=0&dest=free", 200, '{"b":"o","c":"o"}'),
      gets("o", "", "a"),
      gives("o", "a"),
      gets("o", "", "b"),
      gets("o", "", "c"),
      gets("o", "", "a"),
    ],
  },
  {
    id: "R9 one is made for each that waits, up to the maximum, and none for who does not",
    ...grown({ state: "dirty" }),
    steps: [
      waits("o", "", { stored: [] }),
      waits("o", "1", { stored: ["t-1:t/dirty/"] }),
      waits("o", "1", { stored: ["t-1:t/dirty/"] }),
      waits("o", "2", { stored: ["t-1:t/dirty/", "t-2:t/dirty/"] }),
      waits("o", "3", { stored: ["t-1:t/dirty/", "t-2:t/dirty/"] }),
      ...["t-1", "t-2"].flatMap((name) => [
        step(
          "POST /acquire?type=t&state=dirty&dest=cleaning&owner=c",
          200,
          lent(name, { owner: "c", state: "cleaning", at: 31 }),
          { afterMs: name === "t-1" ? 31_000 : 0 },
        ),
        gives("c", name, "tombstone"),
      ]),
      waits("o", "", { stored: [] }),
    ],
  },
  {
    id: "R14 no lifespan without coming and going",
    seed: ["res:t/free/"],
    steps: [gets("o", "", "res"), gives("o", "res"), gets("o", "", "res")],
  },
  {
    id: "R15 no lifespan where none is set",
    ...grown({ min: 1 }),
    steps: [gets("o", "", "t-1"), gives("o", "t-1"), gets("o", "", "t-1")],
  },
  {
    id: "R16 the lifespan counts from the last release",
    ...grown({ min: 1, lifespanMs: 60_000 }),
    steps: [
      gets("o", "", "t-1"),
      gives("o", "t-1"),
      gets("o", "", "t-1", { expires: 60 }),
      { ...gives("o", "t-1"), afterMs: 10_000 },
      gets("o", "", "t-1", { expires: 70, at: 10 }),
    ],
  },
]);

/** What is stored, what is sent, what is there then. */
const changes: readonly (readonly [string, Record<string, string>, string, string])[] = [
  ["C1", {}, '{"test":"new"}', '{"test":"new"}'],
  ["C2", { test: "old" }, '{"test":"new"}', '{"test":"new"}'],
  ["C7", {}, "{}", "{}"],
  ["C8", {}, '{"custom":"custom"}', '{"custom":"custom"}'],
  ["C9", { "1": "1" }, '{"2":"2"}', '{"1":"1","2":"2"}'],
  ["C10", { "1": "1" }, '{"1":"2"}', '{"1":"2"}'],
  ["C11", { "1": "1", "2": "2" }, '{"1":""}', '{"2":"2"}'],
  ["C11 null", { "1": "1", "2": "2" }, '{"1":null}', '{"2":"2"}'],
  ["C11 nothing to remove", { "1": "1" }, '{"9":""}', '{"1":"1"}'],
  [
    "as Go writes it",
    {},
    '{"b":"<&>","a":"- x\\n- y\\n"}',
    '{"a":"- x\\n- y\\n","b":"\\u003c\\u0026\\u003e"}',
  ],
];

testRows(
  "user data",
  changes.map(([id, before, sent, after]) => ({
    id,
    seed: ["res:t/free/"],
    userData: { res: before },
    steps: [
      gets("o", "", "res", { userdata: JSON.stringify(before) }),
      step("POST /update?name=res&owner=o&state=busy", 200, "", { body: sent }),
      gives("o", "res", "dirty"),
      step(
        "POST /acquire?type=t&state=dirty&dest=cleaning&owner=j",
        200,
        lent("res", { owner: "j", state: "cleaning", userdata: after }),
      ),
      step("POST /reset?type=t&state=cleaning&expire=0&dest=free", 200, '{"res":"j"}'),
      step(
        "POST /acquirebystate?state=free&dest=busy&owner=o&names=res",
        200,
        `[${lent("res", { userdata: after })}]\n`,
      ),
    ],
  })),
);
