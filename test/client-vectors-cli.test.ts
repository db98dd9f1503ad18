/** `berth run` against all vectors. */

import { berthPath, Process } from "./cli-processes.ts";
import { runArguments } from "./client-commands.ts";
import { testVectors } from "./client-vectors.suite.ts";

testVectors({
  start: (run) => {
    const env = { ...run.env, BERTH_URL: run.url };
    return new Process(berthPath, ["run", ...runArguments(run)], env);
  },
});
