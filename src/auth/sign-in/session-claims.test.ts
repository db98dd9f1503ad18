import { expect, test } from "vitest";
import type { IssuerSpec } from "../issuer-spec.ts";
import { principalFrom } from "../issuers/rules.ts";
import { sessionClaims } from "./session-claims.ts";

const spec: IssuerSpec = {
  issuer: "https://i",
  audience: "b",
  proof: { type: "discovery" },
  rules: [
    { claims: { groups: "berth-*", "realm/roles": "x" }, space: "{realm/team}", role: "operator" },
    { claims: { groups: "staff" }, space: "all", role: "viewer", name: "{email}" },
  ],
};

test("a session keeps what the rules use, and of lists what they look for", () => {
  const claims = {
    sub: "ann",
    email: "ann@example.org",
    phone: "1",
    groups: [...Array.from({ length: 500 }, (_, at) => `g${at}`), "berth-ops", "staff"],
    realm: { roles: ["x", "y"], team: "ops", more: "m" },
  };
  const kept = sessionClaims(spec, claims);
  expect(kept).toEqual({
    sub: "ann",
    email: "ann@example.org",
    groups: ["berth-ops", "staff"],
    "realm/roles": ["x"],
    "realm/team": "ops",
  });
  expect(principalFrom(spec, kept)).toEqual(principalFrom(spec, claims));
});
