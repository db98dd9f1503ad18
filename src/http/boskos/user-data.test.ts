import { expect, test } from "vitest";
import { parseUserData } from "./user-data.ts";

test.each([
  ["", {}],
  [" \n", {}],
  ["null", {}],
  ["{}", {}],
  ['{"a":"1"}', { a: "1" }],
  ['{"a":"","b":null}', { a: null, b: null }],
  ['{"a":"1"} and more', { a: "1" }],
  ['{"a":"1"}{"b":', { a: "1" }],
  ['{"a":"1","a":"2"}', { a: "2" }],
  ['{"ключ":"\\u20ac"}', { ключ: "€" }],
])("parseUserData() takes %j", (body, change) => {
  expect(parseUserData(body)).toEqual({ change });
});

test("parseUserData() takes any key as a key", () => {
  const parsed = parseUserData('{"__proto__":"x","constructor":"y"}');
  expect("change" in parsed && Object.entries(parsed.change)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
});

test.each([
  ["x", "invalid character 'x' looking for beginning of value"],
  ['{"a":x}', "invalid character 'x' looking for beginning of value"],
  [`{"a":'x'}`, "invalid character '\\'' looking for beginning of value"],
  ["a=b&c=d", "invalid character 'a' looking for beginning of value"],
  ['{"a":', "unexpected EOF"],
  ['{"a":"secr', "unexpected EOF"],
  ['{"a":1}', "json: cannot unmarshal number into Go value of type string"],
  ['{"a":true}', "json: cannot unmarshal bool into Go value of type string"],
  ['{"a":{"b":"c"}}', "json: cannot unmarshal object into Go value of type string"],
  ['{"a":["b"]}', "json: cannot unmarshal array into Go value of type string"],
  ['"text"', "json: cannot unmarshal string into Go value of type map[string]string"],
  ["[]", "json: cannot unmarshal array into Go value of type map[string]string"],
  ["7", "json: cannot unmarshal number into Go value of type map[string]string"],
])("parseUserData() refuses %j", (body, error) => {
  expect(parseUserData(body)).toEqual({ error });
});
