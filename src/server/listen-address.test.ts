import { describe, expect, test } from "vitest";
import { parseListenAddress, reachable } from "./listen-address.ts";

describe("parseListenAddress()", () => {
  test.each([
    ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
    [":8080", { host: "127.0.0.1", port: 8080 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["localhost:65535", { host: "localhost", port: 65_535 }],
    ["example.org:80", { host: "example.org", port: 80 }],
  ])("reads %s", (text, want) => {
    expect(parseListenAddress(text)).toEqual(want);
  });

  test.each([
    "",
    "8080",
    "localhost",
    "localhost:",
    "localhost:x",
    "::1:80",
    "[::1]",
    "a:65536",
    "a:-1",
    "a:1 ",
  ])("rejects %j with exit code 64", (text) => {
    expect(() => parseListenAddress(text)).toThrow(
      expect.objectContaining({ name: "CannotServe", exitCode: 64, hint: expect.any(String) }),
    );
  });
});

describe("reachable()", () => {
  test.each(["127.0.0.1", "127.9.9.9", "::1", "localhost"])("does not find %s", (host) => {
    expect(reachable([{ host, port: 1 }])).toBeUndefined();
  });

  test.each(["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", "1270.0.0.1"])(
    "finds %s, behind an address of this machine too",
    (host) => {
      const address = { host, port: 1 };
      expect(reachable([{ host: "127.0.0.1", port: 2 }, address])).toBe(address);
    },
  );
});
