import { expect, test } from "vitest";
import type { SpaceName } from "../core/model/ids.ts";
import { Authenticator } from "./authenticator.ts";
import {
  type CertificateRule,
  type ClientCertificate,
  parseSubjectPattern,
  principalOfCertificate,
} from "./certificates.ts";

const shown: ClientCertificate = {
  subject: { CN: ["ci-7"], O: ["Acme, Inc"], OU: ["tests", "build"] },
  san: ["DNS:ci-7.example.org", "URI:spiffe://acme/ci/7"],
  expiresAtMs: Number.POSITIVE_INFINITY,
};
const access = { space: "ci" as SpaceName, role: "holder" } as const;
const rule = (subject?: string, san?: string): CertificateRule => ({
  ...access,
  ...(subject === undefined ? undefined : { subject: parseSubjectPattern(subject) }),
  ...(san === undefined ? undefined : { san }),
});

test.each([
  ["CN=ci-7", undefined, true],
  ["CN=ci-*", undefined, true],
  ["CN=CI-7", undefined, false],
  ["CN=ci", undefined, false],
  ["O=ci-7", undefined, false],
  ["CN=ci-7,OU=build", undefined, true],
  ["CN=ci-7, OU=tests, OU=build", undefined, true],
  ["CN=ci-7,OU=other", undefined, false],
  ["O=Acme\\, Inc", undefined, true],
  ["O=Acme", undefined, false],
  ["L=*", undefined, false],
  [undefined, "URI:spiffe://acme/ci/*", true],
  [undefined, "DNS:spiffe://acme/ci/*", false],
  [undefined, "DNS:*.example.org", true],
  ["CN=ci-7", "DNS:*.example.org", true],
  ["CN=ci-7", "DNS:*.example.com", false],
  ["CN=ci-8", "DNS:*.example.org", false],
])("a rule with subject %j and san %j matches: %j", (subject, san, expected) => {
  const found = principalOfCertificate([rule(subject, san)], shown);
  expect(found !== undefined).toBe(expected);
});

test("the first rule that matches counts, and may give a name", () => {
  const rules: CertificateRule[] = [
    rule("CN=other"),
    { ...rule("CN=ci-*"), name: "first" },
    { ...rule("CN=*"), role: "admin" },
  ];
  expect(principalOfCertificate(rules, shown)).toEqual({
    ...{ name: "first", space: "ci", role: "holder", proof: "certificate" },
  });
});

test.each([
  [["ci-7"], [], "ci-7"],
  [[], ["URI:spiffe://acme/ci/7"], "URI:spiffe://acme/ci/7"],
  [["a\nb"], ["DNS:a.example"], "DNS:a.example"],
  [["\u202eevil"], [], "a client with a certificate"],
  [["x".repeat(254)], [], "a client with a certificate"],
])("without a name, the common names %j and the names %j give %j", (names, san, name) => {
  const certificate = { ...shown, subject: { CN: names, O: ["Acme"] }, san };
  expect(principalOfCertificate([rule("O=Acme")], certificate)).toMatchObject({ name });
});

test("a certificate stops to count when it expires, also on an open connection", () => {
  let nowMs = 1_000;
  const spec = { tokens: [], certificates: [rule("CN=*")] };
  const authenticator = new Authenticator(spec, () => nowMs);
  const certificate = { ...shown, expiresAtMs: 2_000 };
  expect(authenticator.authenticateByCertificate(certificate)).toMatchObject({ name: "ci-7" });
  nowMs = 2_000;
  expect(() => authenticator.authenticateByCertificate(certificate)).toThrow("it has expired");
});
