import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/closing-line.ts";

process.env["BERTH_SIM_SEEDS"] ??= "10";

/** What `npm run test:quick` runs while somebody writes: half a minute, and nothing but Node. */
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "sim/**/*.test.ts"],
    exclude: [
      "src/**/*-on-postgres.test.ts", // They need PostgreSQL.
      // Every planted bug, every seed that never changes, and a picture of many histories.
      ...["sim/{bugs,caches,simulation,utilisation}.test.ts"],
      // A database is opened again before every call.
      "src/http/boskos/{conformance,conformance-metrics,conformance-order,flaws-lease,flaws-pool}.test.ts",
      // They listen on sockets, start processes, or wait for real time to pass.
      ...["src/client/berth-client.test.ts", "src/kubernetes/api-server.test.ts"],
      ...["src/insight/history/follower.test.ts", "src/journal/sqlite-process.test.ts"],
      ...["src/server/{health-listener,serve,serve-history}.test.ts", "src/workers/**"],
      "src/drivers/command/command-driver.test.ts",
      // It opens thousands of databases.
      "src/broker/damaged-journal.test.ts",
      // They live through hundreds of thousands of leases.
      ...[
        "src/core/model/ended-memory.test.ts",
        "src/insight/what-if/{reproduces,what-if}.test.ts",
      ],
      ...["src/insight/pacing/{herd,provider}.test.ts", "src/insight/stats-worker.test.ts"],
    ],
    setupFiles: "test/random-values.ts",
    pool: "forks",
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
    reporters: ["default", new ClosingLine()],
  },
});
