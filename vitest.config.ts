import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/closing-line.ts";
import { LeftOut } from "./test/left-out.ts";
import { testSeed } from "./test/test-seed.ts";

// Inherited by the workers and by every process that a test starts: Node keeps what it has compiled,
// and a command starts in a third of the time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/compiled", import.meta.url),
);

const onPostgres = ["src/**/*-on-postgres.test.ts", "test/**/*-on-postgres.test.ts"];
// What the servers of the tests write is searched for secrets when all tests have ended.
process.env["BERTH_TEST_EVIDENCE"] ??= join(tmpdir(), `berth-evidence-${process.pid}`);

// Inherited by the workers: one commit, one seed.
process.env["BERTH_TEST_SEED"] ??= String(testSeed());

const onKubernetes =
  "test/{slots*,mirror,admission,page-admission,issuer-kubernetes,driver-*,clusters-namespace,front-*,deploy-helm,deploy-kinds,deploy-kubernetes}.test.ts";

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    // Generous, because a loaded machine is slow and no test asserts on elapsed time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ["default", new LeftOut(), new ClosingLine()],
    projects: [
      {
        extends: true,
        test: {
          name: "units",
          include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "sim/**/*.test.ts"],
          exclude: onPostgres,
          setupFiles: "test/random-values.ts",
          // Two processes for all files: these tests change nothing that others see, and what they
          // load (the framework, the schemas that it compiles) costs more than most of them.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: ["test/**/*.test.ts", "demo/**/*.test.ts"],
          exclude: [onKubernetes, ...onPostgres],
          // A process per file: these start servers, browsers and clusters, and one that is left behind
          // ends with its file.
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          include: onPostgres,
          // One server for all of them; each file has its own database.
          globalSetup: "test/postgres-setup.ts",
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: "kubernetes",
          include: [onKubernetes],
          // One API server for all of them, only while they run: it costs time even when it idles.
          globalSetup: "test/kube-setup.ts",
          sequence: { groupOrder: 1 },
          isolate: true,
        },
      },
    ],
  },
});
