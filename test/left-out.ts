import type { Reporter, TestModule } from "vitest/node";
import { chromiumPath, howToGetChromium } from "./chromium.ts";
import { findKubeBinaries, mustBeThere } from "./kube-binaries.ts";

/** Says plainly which tests were left out because the machine lacks something, and how to get them. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = (name: RegExp) =>
      modules
        .filter(({ moduleId }) => name.test(moduleId))
        .flatMap((module) => [...module.children.allTests("skipped")]).length;
    const lines = [
      ...kubernetes(count(/\/test\/(?:slots|mirror|admission|page-admission)[^/]*\.test\.ts$/)),
      ...browser(count(/\/test\/page[^/]*\.test\.ts$/)),
    ];
    if (lines.length > 0) console.log(["", ...lines].join("\n"));
  }
}

function kubernetes(tests: number): string[] {
  const found = findKubeBinaries();
  if (mustBeThere || tests === 0 || !("missing" in found)) return [];
  return [
    `LEFT OUT: ${tests} tests of berth slots and of servers beside Kubernetes, which need a Kubernetes API server.`,
    `  ${found.missing}`,
    "  It builds one in a few minutes, once, as root on Debian; or set KUBEBUILDER_ASSETS to a folder",
    "  that has kube-apiserver, etcd and kubectl of any version.",
  ];
}

function browser(tests: number): string[] {
  if (chromiumPath !== undefined || tests === 0) return [];
  return [`LEFT OUT: ${tests} tests of the page, which need Chromium.`, `  ${howToGetChromium}`];
}
