import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../scripts/kube-test-server", import.meta.url));

/** The folder with kube-apiserver, etcd and kubectl, or why there is none. */
export type KubeBinaries = { readonly folder: string } | { readonly missing: string };

/** Where the tests must not be left out, as in CI, a missing server is a failure. */
export const mustBeThere = process.env["BERTH_KUBE_TESTS"] === "required";

export function findKubeBinaries(): KubeBinaries {
  const { status, stdout, stderr } = spawnSync(script, ["--find"], { encoding: "utf8" });
  if (status === 0) return { folder: stdout.trim() };
  return { missing: stderr.trim().replace(/^kube-test-server: /, "") };
}

/** For `describe.skipIf`. */
export const noKube = !mustBeThere && "missing" in findKubeBinaries();

/** For tests that start a server and a dozen processes, beside a race of fifty. */
export const patienceMs = 240_000;

/** For tests of what a hub's controllers do beside others: Debian's Kubernetes has none. */
export const noControllers =
  noKube ||
  (!mustBeThere && !existsSync(join(folderOf(findKubeBinaries()), "kube-controller-manager")));

function folderOf(found: KubeBinaries): string {
  return "missing" in found ? "" : found.folder;
}
