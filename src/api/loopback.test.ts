import { describe, expect, test } from "vitest";
import { hostnameOfHeader, hostnameOfUrl, isLoopbackAddress, isLoopbackName } from "./loopback.ts";

const isLoopbackHeader = (header: string) => {
  const name = hostnameOfHeader(header);
  return name === undefined ? undefined : isLoopbackName(name);
};

describe("a Host header", () => {
  test.each([
    ["localhost", true],
    ["LocalHost:8080", true],
    ["localhost.:8080", true],
    ["berth.localhost:8080", true],
    ["127.0.0.1:8080", true],
    ["127.8.8.8", true],
    ["127.1", true],
    ["[::1]:8080", true],
    ["[::ffff:127.0.0.1]:8080", true],
    ["[0:0:0:0:0:0:0:1]", true],
    ["evil.example", false],
    ["localhost.evil.example", false],
    ["evillocalhost", false],
    ["127.evil.example", false],
    ["127.0.0.1.nip.io", false],
    ["127.0.0.1.", true],
    ["128.0.0.1", false],
    ["0.0.0.0", false],
    ["[::ffff:10.127.0.1]", false],
    ["[::2]", false],
    ["", undefined],
    ["127.0.0.1@evil.example", undefined],
    ["evil.example#localhost", undefined],
    ["evil.example/localhost", undefined],
    ["localhost:80:80", undefined],
    ["127.0.0.256", undefined],
    ["[::1", undefined],
    ["local host", undefined],
  ])("%j is loopback: %j", (header, want) => {
    expect(isLoopbackHeader(header)).toBe(want);
  });
});

test.each([
  ["http://localhost:8080", "localhost"],
  ["https://[::1]", "::1"],
  ["http://127.evil.example", "127.evil.example"],
  ["null", undefined],
  ["file:///etc", undefined],
  ["", undefined],
])("hostnameOfUrl() of %j is %j", (url, want) => {
  expect(hostnameOfUrl(url)).toBe(want);
});

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["", false],
  ["10.0.0.1", false],
  ["128.0.0.1", false],
  ["1127.0.0.1", false],
  ["::ffff:10.127.0.1", false],
  ["::2", false],
  ["fe80::1%eth0", false],
  ["localhost", false],
])("isLoopbackAddress() of %j is %j", (address, want) => {
  expect(isLoopbackAddress(address)).toBe(want);
});
