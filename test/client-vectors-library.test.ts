/** The library `berth/client` against all vectors. */
import { fileURLToPath } from "node:url";
import { Process } from "./cli-processes.ts";
import { driverError, driverRun } from "./client-driver.ts";
import { testVectors } from "./client-vectors.suite.ts";

const program = fileURLToPath(new URL("vector-driver.ts", import.meta.url));

testVectors({
  start: (run) => new Process(process.execPath, [program, driverRun(run)], run.env),
  errorOf: driverError,
});
