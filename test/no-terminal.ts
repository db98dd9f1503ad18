import { spawnSync } from "node:child_process";

/** Only the `script` of util-linux can run a command on a terminal as our tests need it. */
export const noTerminal = !/util-linux/.test(
  spawnSync("script", ["--version"]).stdout?.toString() ?? "",
);
