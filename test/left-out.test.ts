/** A run of the tests on a machine that has next to nothing: it must say what was left out. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = ["test/cli-terminal", "test/slots-in-cluster", "src/journal/sqlite-full"];

test("skipped tests are reported, with what is missing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-bare-"));
  try {
    await symlink(process.execPath, join(folder, "node"));
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const bare = { HOME: folder, PATH: folder, BERTH_KUBE_TESTS: "required" };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [vitest, "run", ...files.map((file) => `${file}.test.ts`)],
      { cwd: root, env: bare },
    );
    expect(stdout).toMatch(
      /^LEFT OUT: \d+ tests on a terminal, which need the script of util-linux/m,
    );
    expect(stdout).toMatch(/^LEFT OUT: \d+ tests of berth slots in a pod, which need unshare/m);
    const disk = "src/journal/sqlite-full.test.ts: mounting a small disk is not permitted.";
    expect(stdout).toContain(`LEFT OUT: 5 tests of ${disk}`);
    expect(stdout).toMatch(/^0 passed, 0 failed, \d+ skipped$/m);
  } finally {
    await rm(folder, { recursive: true });
  }
});
