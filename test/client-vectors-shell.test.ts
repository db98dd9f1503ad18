/** `/client.sh run` against all vectors, in every shell that this machine has. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { Process } from "./cli-processes.ts";
import { runArguments } from "./client-commands.ts";
import { testVectors } from "./client-vectors.suite.ts";

const script = fileURLToPath(new URL("../clients/shell/client.sh", import.meta.url));

const shells: Readonly<Record<string, readonly string[]>> = {
  dash: ["dash"],
  bash: ["bash"],
  "busybox ash": ["busybox", "ash"],
};

function missing(name: string): string | false {
  try {
    execFileSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" });
    return false;
  } catch {
    return `this machine has no ${name} (on Debian: apt-get install ${name})`;
  }
}

describe.each(Object.entries(shells))("%s", (_, [file = "", ...args]) => {
  testVectors(
    {
      start: (run) => {
        const env = { ...run.env, BERTH_URL: run.url };
        return new Process(file, [...args, script, "run", ...runArguments(run)], env);
      },
    },
    missing(file),
  );
});
