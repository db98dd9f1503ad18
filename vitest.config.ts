import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/closing-line.ts";
import { LeftOut } from "./test/left-out.ts";

export default defineConfig({
  test: {
    include: [
      "src/**/*.test.ts",
      "sim/**/*.test.ts",
      "test/**/*.test.ts",
      "web/src/**/*.test.ts",
      "demo/**/*.test.ts",
    ],
    // A process per file: tests open sockets, files and databases, and one that leaks hurts no other.
    pool: "forks",
    maxWorkers: 2,
    // Generous, because a loaded machine is slow and no test asserts on elapsed time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", new LeftOut(), new ClosingLine()],
  },
});
