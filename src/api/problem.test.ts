import { describe, expect, test } from "vitest";
import { Problem } from "./problem.ts";

const problem = new Problem({
  code: "pool_not_found",
  status: 404,
  message: 'Cannot find pool "asw"',
  hint: 'Did you mean "aws"?',
  facts: { nearest: "aws" },
});

describe("Problem", () => {
  test("is on the wire what RFC 9457 wants, and a code, a hint and facts of our own", () => {
    expect(problem.toJSON()).toEqual({
      type: "/docs/errors#pool_not_found",
      title: "Pool not found",
      status: 404,
      detail: 'Cannot find pool "asw"',
      code: "pool_not_found",
      hint: 'Did you mean "aws"?',
      nearest: "aws",
    });
  });

  test("comes back from the wire as it was", () => {
    const back = Problem.from(404, JSON.parse(JSON.stringify(problem)));
    expect(back.toJSON()).toEqual(problem.toJSON());
    expect(back).toMatchObject({ message: problem.message, facts: { nearest: "aws" } });
  });

  test("is an Error with its cause", () => {
    const cause = new Error("disk");
    const caused = new Problem({ code: "x", status: 503, message: "Cannot", hint: "Wait" }, cause);
    expect(caused).toBeInstanceOf(Error);
    expect(caused.cause).toBe(cause);
  });

  test.each([
    undefined,
    null,
    "<html>",
    [],
    {},
    { code: "x" },
    { code: 7, detail: "x", hint: "x", status: 400 },
    { error: "Bad Gateway" },
  ])("made of %j says that the reply is not one of ours", (body) => {
    expect(Problem.from(502, body)).toMatchObject({
      code: "unexpected_reply",
      status: 502,
      message: expect.stringContaining("502"),
    });
  });

  test("does not let a fact replace what it says", () => {
    const odd = new Problem({ code: "x", status: 400, message: "m", hint: "h", facts: {} });
    expect(Object.keys(odd.toJSON())).toEqual([
      "type",
      "title",
      "status",
      "detail",
      "code",
      "hint",
    ]);
  });
});
