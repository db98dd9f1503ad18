import type { Reporter, TestCase, TestModule } from "vitest/node";
import { chromiumPath, howToGetChromium } from "./chromium.ts";
import { findKubeBinaries, mustBeThere, noControllers } from "./kube-binaries.ts";
import { noTerminal } from "./no-terminal.ts";
import { noPods } from "./own-files.ts";
import { findPostgres, howToGetPostgres } from "./postgres-server.ts";

const needKube = testsCalled(
  ...["slots", "mirror", "admission", "page-admission", "issuer-kubernetes", "clusters-crash"],
  ...["clusters-namespace", "driver-namespace", "driver-secret", "front-devices", "deploy-helm"],
  ...["deploy-kinds", "deploy-kubernetes"],
);
const needControllers = testsCalled(
  ...["driver-caas", "driver-cluster-api", "driver-hive", "driver-hub", "driver-hypershift"],
  ...["driver-many", "driver-rights", "driver-tags", "front-caas", "front-spaces", "front-tekton"],
  "hive-controllers",
);

/** The files of tests whose names begin so. */
function testsCalled(...names: readonly string[]): RegExp {
  return new RegExp(`/test/(?:${names.join("|")})[^/]*\\.test\\.ts$`);
}

/** Says plainly which tests were left out because the machine lacks something, and how to get them. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    const count = (name: RegExp) =>
      skipped.filter(({ module }) => name.test(module.moduleId)).length;
    const lines = [
      ...kubernetes(count(needKube)),
      ...controllers(count(needControllers)),
      ...postgres(count(/-on-postgres\.test\.ts$/)),
      ...browser(count(/\/test\/page[^/]*\.test\.ts$/)),
      ...terminal(count(/\/test\/(?:cli-terminal|slots-terminal|slots-outage)\.test\.ts$/)),
      ...pods(count(/\/test\/slots-in-cluster\.test\.ts$/)),
      ...others(skipped),
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

function controllers(tests: number): string[] {
  if (!noControllers || tests === 0) return [];
  return [
    `LEFT OUT: ${tests} tests of hubs and of objects that Berth serves, which need kube-controller-manager.`,
    "  scripts/kube-test-server builds it where there is Go.",
  ];
}

function postgres(tests: number): string[] {
  if (findPostgres() !== undefined || tests === 0) return [];
  return [
    `LEFT OUT: ${tests} tests of replicas and of the journal on PostgreSQL, which need PostgreSQL.`,
    `  ${howToGetPostgres}`,
  ];
}

function browser(tests: number): string[] {
  if (chromiumPath !== undefined || tests === 0) return [];
  return [`LEFT OUT: ${tests} tests of the page, which need Chromium.`, `  ${howToGetChromium}`];
}

function terminal(tests: number): string[] {
  if (!noTerminal || tests === 0) return [];
  return [
    `LEFT OUT: ${tests} tests on a terminal, which need the script of util-linux.`,
    "  Install it (on Debian: apt-get install bsdutils).",
  ];
}

function pods(tests: number): string[] {
  if (!noPods || tests === 0) return [];
  return [
    `LEFT OUT: ${tests} tests of berth slots in a pod, which need unshare, and the right to use it.`,
    "  Install it (on Debian: apt-get install util-linux), and allow user namespaces.",
  ];
}

/** Those that said themselves why, by their reason. */
function others(skipped: readonly TestCase[]): string[] {
  const reasons = Map.groupBy(skipped, (test) => {
    const result = test.result();
    return (result.state === "skipped" && result.note) || "";
  });
  reasons.delete("");
  return Array.from(reasons, ([why, tests]) => {
    const files = new Set(tests.map(({ module }) => module.relativeModuleId));
    return `LEFT OUT: ${tests.length} tests of ${[...files].join(", ")}: ${why}.`;
  });
}
