import type { Reporter, TestModule } from "vitest/node";
import { reportSecrets } from "./evidence.ts";

/**
 * Ends the output with `N passed, M failed` alone on a line, which scripts and people find at once
 * under any other noise. A file that does not even load, or whose setup fails, counts as one failure,
 * and so does a secret that a server of the tests has written.
 */
export class ClosingLine implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      const before = counts.failed;
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      const inSetup = module.state() === "failed" && counts.failed === before;
      if (inSetup && module.errors().length === 0) counts.failed += 1;
    }
    const leaks = await reportSecrets();
    if (leaks > 0) process.exitCode = 1;
    counts.failed += leaks;
    const skipped = counts.skipped + counts.pending;
    const line = `${counts.passed} passed, ${counts.failed} failed`;
    // The other reporters have been called before; their last lines are written by now.
    setImmediate(() => console.log(skipped === 0 ? line : `${line}, ${skipped} skipped`));
  }
}
