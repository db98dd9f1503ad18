import { expect, test } from "vitest";
import { parseStartRate } from "./operate/pin.ts";
import * as values from "./values.ts";

type Row = { parse: values.Parse<unknown>; text: string; want: unknown };
const good: Record<string, Row> = {
  "any of two pools": {
    parse: values.poolCount,
    text: "east,west:2",
    want: { pool: "east", anyOf: ["east", "west"], count: 2 },
  },
  "starts per minute": { parse: parseStartRate, text: "2.5/m", want: 2.5 },
  "starts per hour": { parse: parseStartRate, text: "30/h", want: 0.5 },
  "a start per interval": { parse: parseStartRate, text: "1/24s", want: 2.5 },
  "a pool": { parse: values.poolCount, text: "aws", want: { pool: "aws", count: 1 } },
  "a pool with a count": {
    parse: values.poolCount,
    text: "vm:12",
    want: { pool: "vm", count: 12 },
  },
  "a label": { parse: values.label, text: "team=a=b", want: ["team", "a=b"] },
  "a label without a value": { parse: values.label, text: "team=", want: ["team", ""] },
  "an address with a path": {
    parse: values.serverUrl,
    text: "https://ci.example/berth/",
    want: "https://ci.example/berth",
  },
  "a negative priority": { parse: values.wholeNumber(-5, 5), text: "-5", want: -5 },
  "a size": { parse: values.byteSize(1e6), text: "1.5GB", want: 1_500_000_000 },
  "a ttl": { parse: values.ttl, text: "1m30s", want: 90_000 },
};
test.each(Object.entries(good))("readValue() accepts %s", (_, { parse, text, want }) => {
  expect(values.readValue("--x", text, parse)).toEqual(want);
});

const bad: Record<string, [parse: values.Parse<unknown>, text: string, message: RegExp]> = {
  "a pool without a name": [values.poolCount, ":2", /"--?\S*|not POOL/],
  "a count of zero": [values.poolCount, "vm:0", /its count is out of range/],
  "a count with a sign": [values.poolCount, "vm:-1", /not POOL or POOL:COUNT/],
  "an empty count": [values.poolCount, "vm:", /not POOL or POOL:COUNT/],
  "a label without =": [values.label, "team", /not KEY=VALUE/],
  "a number that is not whole": [values.wholeNumber(0, 9), "1.5", /not a whole number from 0 to 9/],
  "a number out of bounds": [values.wholeNumber(0, 9), "10", /not a whole number from 0 to 9/],
  "an address without http": [values.serverUrl, "localhost:80", /not an http\(s\) address/],
  "a ttl that is too long": [values.ttl, "2d", /too long/],
  "a state with a blank": [values.stateName, "very dirty", /its form is wrong/],
};
test.each(Object.entries(bad))("readValue() refuses %s", (_, [parse, text, message]) => {
  expect(() => values.readValue("--x", text, parse)).toThrow(/^Cannot use --x /);
  expect(() => values.readValue("--x", text, parse)).toThrow(message);
});

test.each(["t0ken", "t0ken\n", " t0ken "])("ownToken() accepts %j without its blanks", (text) => {
  expect(values.ownToken(text)).toBe("t0ken");
});

test.each([
  ["", "it is empty"],
  ["\n", "it is empty"],
  ["two words", "it is not a token"],
])("ownToken() refuses %j and names berth token new", (text, state) => {
  const read = () => values.readValue("BERTH_TOKEN", text, values.ownToken);
  expect(read).toThrow(`Cannot use BERTH_TOKEN: ${state}`);
  expect(read).toThrow(expect.objectContaining({ hint: expect.stringMatching("berth token new") }));
});

test("readValue() does not repeat a secret", () => {
  const read = () => values.readValue("BERTH_TOKEN", "s3cret with blanks", values.token);
  expect(read).toThrow("Cannot use BERTH_TOKEN: it is not a token");
});
