/** The Go client against all vectors. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { Process } from "./cli-processes.ts";
import { driverError, driverRun } from "./client-driver.ts";
import { testVectors } from "./client-vectors.suite.ts";
import { go, noGo } from "./go-program.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-go-client-"));
const program = join(folder, "vectors");
beforeAll(() => {
  if (!noGo) go("build", "-o", program, "./internal/vectors");
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true }));

testVectors(
  {
    start: (run) => new Process(program, [driverRun(run)], run.env),
    errorOf: driverError,
  },
  noGo,
);
