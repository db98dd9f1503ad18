import { expect, test } from "vitest";
import { defaultHolder } from "./holder.ts";

const builds: Record<string, [env: Record<string, string>, want: string]> = {
  "GitHub Actions": [
    { GITHUB_REPOSITORY: "org/repo", GITHUB_JOB: "e2e", GITHUB_RUN_ID: "17" },
    "org/repo/e2e/17",
  ],
  GitLab: [{ CI_PROJECT_PATH: "g/p", CI_JOB_NAME: "test", CI_JOB_ID: "5" }, "g/p/test/5"],
  Prow: [{ JOB_NAME: "pull-e2e", BUILD_ID: "123" }, "pull-e2e/123"],
  Jenkins: [{ JOB_NAME: "folder/job", BUILD_NUMBER: "8" }, "folder/job/8"],
};
test.each(Object.entries(builds))("defaultHolder() is the build on %s", (_, [env, want]) => {
  expect(defaultHolder("make", env)).toBe(want);
});

test("defaultHolder() is user@host/command outside of CI", () => {
  expect(defaultHolder("make", { GITHUB_JOB: "half" })).toMatch(/^[^@]+@[^/]+\/make$/);
});
