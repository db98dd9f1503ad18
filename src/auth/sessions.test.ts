import { expect, test } from "vitest";
import { Sealer } from "./sealer.ts";
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

test("a session in use is renewed after half of its time, until its last end", () => {
  let nowMs = 1_000;
  const sessions = new Sessions("secret", () => nowMs);
  const first = sessions.start({ token: "a-token" }, 100_000, 250_000);
  const after = (ms: number, value: string) => {
    nowMs += ms;
    const session = sessions.open(value);
    return session && sessions.renew(session);
  };
  expect(after(49_999, first.value)).toBeUndefined();
  const second = after(1, first.value);
  expect(second).toMatchObject({ id: first.id, token: "a-token", leftMs: 100_000 });
  const third = after(99_999, second?.value ?? "");
  expect(third).toMatchObject({ id: first.id, untilMs: 250_999 });
  expect(third?.value).not.toBe(second?.value);
  const last = after(50_000, third?.value ?? "");
  // 49 s later than before, and no more: its last end.
  expect(last).toBeUndefined();
  nowMs = 250_999;
  expect(sessions.open(third?.value ?? "")).toBeUndefined();
});

test("a session with a fixed length, and one of an older server, are never renewed", () => {
  let nowMs = 1_000;
  const sessions = new Sessions("secret", () => nowMs);
  const fixed = sessions.start({ token: "t" }, 1_000, 1_000);
  nowMs += 999;
  expect(sessions.renew(fixed)).toBeUndefined();
  const older = new Sealer("secret", "berth session").seal({ token: "t", untilMs: nowMs + 1 });
  const opened = sessions.open(older);
  expect(opened).toMatchObject({ token: "t", id: expect.stringMatching(/^[\w-]{22}$/) });
  expect(opened && sessions.renew(opened)).toBeUndefined();
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
