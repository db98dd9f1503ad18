import { expect, test } from "vitest";
import { ConnectionLost, noTls, postgresFailure } from "./failure.ts";

test.each([
  [new Error(noTls), "sslmode=disable"],
  [Object.assign(new Error("connect refused"), { code: "ECONNREFUSED" }), "PostgreSQL runs"],
  [Object.assign(new Error("expired"), { code: "CERT_HAS_EXPIRED" }), "sslrootcert"],
])("postgresFailure() of %s has a hint that helps", (error, words) => {
  const failure = postgresFailure(error, "open", "db/berth");
  expect(failure).toBeInstanceOf(ConnectionLost);
  expect(failure).toMatchObject({ hint: expect.stringContaining(words) });
});
