import { expect, test } from "vitest";
import { Sessions, sessionMs } from "./sessions.ts";

test("a session has its token until it is over", () => {
  let nowMs = 1_000;
  const sessions = new Sessions("secret", () => nowMs);
  const value = sessions.start({ token: "a-token" }).value;
  expect(value).not.toContain("token");
  expect(sessions.open(value)).toMatchObject({ token: "a-token" });
  nowMs += sessionMs - 1;
  expect(sessions.open(value)).toMatchObject({ token: "a-token" });
  nowMs += 1;
  expect(sessions.open(value)).toBeUndefined();
});

test("two sessions with one token look different", () => {
  const sessions = new Sessions("secret");
  expect(sessions.start({ token: "t" }).value).not.toBe(sessions.start({ token: "t" }).value);
});

test("nothing but an unchanged value of the same server opens", () => {
  const sessions = new Sessions("secret");
  const value = sessions.start({ token: "a-token" }).value;
  expect(new Sessions("other").open(value)).toBeUndefined();
  const bytes = Buffer.from(value, "base64url");
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(sessions.open(changed.toString("base64url")), `byte ${index}`).toBeUndefined();
  }
  for (const nonsense of ["", "x", value.slice(0, 20), value.slice(0, -4), "é".repeat(50)]) {
    expect(sessions.open(nonsense)).toBeUndefined();
  }
});
