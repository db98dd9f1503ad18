import type { Reporter, TestModule } from "vitest/node";
import { findKubeBinaries, mustBeThere } from "./kube-binaries.ts";

/** Says plainly that the tests on Kubernetes were left out, why, and how to get them. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const kube = modules.filter(({ moduleId }) => /\/test\/slots[^/]*\.test\.ts$/.test(moduleId));
    const found = findKubeBinaries();
    if (mustBeThere || kube.length === 0 || !("missing" in found)) return;
    const all = kube.flatMap((module) => [...module.children.allTests("skipped")]);
    const tests = all.length;
    const lines = [
      "",
      `LEFT OUT: ${tests} tests of berth slots, which need a Kubernetes API server.`,
      `  ${found.missing}`,
      "  It builds one in a few minutes, once, as root on Debian; or set KUBEBUILDER_ASSETS to a folder",
      "  that has kube-apiserver, etcd and kubectl of any version.",
    ];
    console.log(lines.join("\n"));
  }
}
