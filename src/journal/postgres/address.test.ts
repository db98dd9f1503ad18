import { expect, test } from "vitest";
import { parsePostgresAddress } from "./address.ts";

test("parsePostgresAddress() reads all parts of an address", () => {
  const text = "postgres://ber%74h:p%40ss@db.example:6432/ci?schema=team_a&sslmode=disable";
  expect(parsePostgresAddress(text, {})).toEqual({
    ...{ host: "db.example", port: 6432, user: "berth", password: "p@ss", database: "ci" },
    ...{ schema: "team_a", tlsMode: "disable", tls: undefined },
    name: "postgres://db.example:6432/ci?schema=team_a",
  });
});

test("parsePostgresAddress() leaves to the environment what the address does not have", () => {
  const found = parsePostgresAddress("postgresql:///", { PGHOST: "db", PGDATABASE: "x" });
  expect(found).not.toHaveProperty("host");
  expect(found).not.toHaveProperty("password");
  expect(found).toMatchObject({ schema: "berth", tlsMode: "prefer" });
  expect(found.name).toBe("postgres://db:5432/x?schema=berth");
});

test("parsePostgresAddress() accepts the folder of a socket and an IPv6 address", () => {
  const socket = parsePostgresAddress("postgres:///ci?host=/run/postgresql", {});
  expect(socket).toMatchObject({ host: "/run/postgresql", database: "ci" });
  expect(parsePostgresAddress("postgres://[::1]:5/ci", {})).toMatchObject({ host: "::1", port: 5 });
});

test.each([
  ["prefer", { rejectUnauthorized: false }],
  ["require", { rejectUnauthorized: false }],
  ["verify-ca", { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) }],
  ["verify-full", { rejectUnauthorized: true }],
])("parsePostgresAddress() knows sslmode=%s", (mode, tls) => {
  const found = parsePostgresAddress(`postgres://db/ci?sslmode=${mode}`, {});
  expect(found.tls).toMatchObject(tls);
  if (mode === "verify-full") expect(found.tls).not.toHaveProperty("checkServerIdentity");
  expect(parsePostgresAddress("postgres://db/ci", { PGSSLMODE: mode })).toEqual(
    expect.objectContaining({ tlsMode: mode }),
  );
});

test.each([
  ["mysql://u:hunter2@db/ci", "not an address"],
  ["postgres", "not an address"],
  ["postgres://u:hunter2@db:0/ci", "port"],
  ["postgres://u:hunter2@a:1,b:2/ci", "not an address"],
  ["postgres://u:hunter2@db/ci?sslmode=maybe", "sslmode"],
  ["postgres://u:hunter2@db/ci?schema=Berth", "schema"],
  ["postgres://u:hunter2@db/ci?schema=a%22;drop", "schema"],
  ["postgres://u:hunter2@db/ci?statement_timeout=1", "unknown parameter"],
  ["postgres://u:hunter2%zz@db/ci", "not encoded correctly"],
  ["postgres://u:hunter2@db/ci?sslrootcert=/nowhere/ca.crt", "cannot be read"],
])("parsePostgresAddress(%j) refuses it without its password: %s", (text, state) => {
  const refusal = () => parsePostgresAddress(text, {});
  expect(refusal).toThrow(state);
  expect(refusal).not.toThrow("hunter2");
});
