import { hostname, userInfo } from "node:os";
import { limits } from "../../api/limits.ts";

/** Returns `alice@laptop`, the author of changes that an operator makes. */
export function userAtHost(): string {
  return `${userName()}@${hostname()}`.slice(0, limits.holderLengthMax);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`; // In a container the user may have no name.
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The variables by which CI systems name a build. The first row whose variables are all set wins. */
const buildNameParts: readonly ((env: Env) => (string | undefined)[])[] = [
  (env) => [env["GITHUB_REPOSITORY"], env["GITHUB_JOB"], env["GITHUB_RUN_ID"]],
  (env) => [env["CI_PROJECT_PATH"], env["CI_JOB_NAME"], env["CI_JOB_ID"]],
  (env) => [env["JOB_NAME"], env["BUILD_ID"] ?? env["BUILD_NUMBER"]], // Prow and Jenkins.
  (env) => [env["BUILDKITE_PIPELINE_SLUG"], env["BUILDKITE_BUILD_NUMBER"]],
  (env) => [env["CIRCLE_PROJECT_REPONAME"], env["CIRCLE_BUILD_NUM"]],
];

/** The holder if `--holder` is not given: the CI build, or else user, host and command. */
export function defaultHolder(name: string, env: Env = process.env): string {
  for (const nameOf of buildNameParts) {
    const parts = nameOf(env);
    if (parts.every((part) => part)) return parts.join("/").slice(0, limits.holderLengthMax);
  }
  return `${userAtHost()}/${name}`.slice(0, limits.holderLengthMax);
}
