/** A view of the files of one's own, as a pod has it. */
import { spawnSync } from "node:child_process";

/** What `unshare` is told: only what it starts has something else in a well-known place. */
export const apart = ["--user", "--map-root-user", "--mount"];

/** For `describe.skipIf`. */
export const noPods =
  spawnSync("unshare", [...apart, "mount", "-t", "tmpfs", "none", "/run"]).status !== 0;
