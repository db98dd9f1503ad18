import { hostname, userInfo } from "node:os";
import { limits } from "../../api/limits.ts";

/** `alice@laptop`, for changes that a person makes. */
export function whoIAm(): string {
  return `${userName()}@${hostname()}`.slice(0, limits.holderLengthMax);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`; // Containers run as users without a name.
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** How CI systems name a build, in the words that people search for. The first that fits is used. */
const namesOfBuilds: readonly ((env: Env) => (string | undefined)[])[] = [
  (env) => [env["GITHUB_REPOSITORY"], env["GITHUB_JOB"], env["GITHUB_RUN_ID"]],
  (env) => [env["CI_PROJECT_PATH"], env["CI_JOB_NAME"], env["CI_JOB_ID"]],
  (env) => [env["JOB_NAME"], env["BUILD_ID"] ?? env["BUILD_NUMBER"]], // Prow and Jenkins.
  (env) => [env["BUILDKITE_PIPELINE_SLUG"], env["BUILDKITE_BUILD_NUMBER"]],
  (env) => [env["CIRCLE_PROJECT_REPONAME"], env["CIRCLE_BUILD_NUM"]],
];

/** Who asks when nobody has said so: the build, or else a person at a machine. */
export function defaultHolder(name: string, env: Env = process.env): string {
  for (const nameOf of namesOfBuilds) {
    const parts = nameOf(env);
    if (parts.every((part) => part)) return parts.join("/").slice(0, limits.holderLengthMax);
  }
  return `${whoIAm()}/${name}`.slice(0, limits.holderLengthMax);
}
