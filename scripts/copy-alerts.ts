/**
 * Copies the alerts of `deploy/prometheus` to where the chart and the kustomizations can read them: neither reads
 * files outside of its own folder. Part of `npm run generate`; a test finds copies that are out of date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parse, stringify } from "yaml";

const deploy = new URL("../deploy/", import.meta.url);
const { groups } = parse(readFileSync(new URL("prometheus/alerts.yaml", deploy), "utf8"));
const note = "# Made by npm run generate from deploy/prometheus/alerts.yaml.\n";

export const copies: Readonly<Record<string, string>> = {
  "helm/berth/alerts.yaml": note + stringify({ groups }, { lineWidth: 0 }),
  "kubernetes/components/monitoring/prometheus-rule.yaml":
    note +
    stringify(
      {
        apiVersion: "monitoring.coreos.com/v1",
        kind: "PrometheusRule",
        metadata: { name: "berth", namespace: "berth" },
        spec: { groups },
      },
      { lineWidth: 0 },
    ),
};

if (import.meta.main) {
  for (const [path, text] of Object.entries(copies)) writeFileSync(new URL(path, deploy), text);
}
