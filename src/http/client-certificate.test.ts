import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { TestAuthority } from "../server/test-certificates.suite.ts";
import { readAltNames } from "./client-certificate.ts";

const authority = new TestAuthority();

test.each([
  [["DNS:a.example", "IP:127.0.0.1", "URI:spiffe://a/b", "email:me@a.example"]],
  [["URI:spiffe://a/b, DNS:evil.example"]],
  [['URI:spiffe://a/"b", URI:spiffe://evil', "DNS:c.example"]],
  [["DNS:a\\, DNS:evil.example"]],
  [[]],
])("readAltNames() reads %j as Node writes them", (san) => {
  const { cert } = authority.issue({ san });
  expect(readAltNames(new X509Certificate(cert).subjectAltName ?? "")).toEqual(san);
});
