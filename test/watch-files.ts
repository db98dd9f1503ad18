/** The alerts of `deploy/prometheus`, their runbook, and the dashboard of `deploy/grafana`. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

const root = new URL("../", import.meta.url);
export const readText = (path: string) => readFileSync(new URL(path, root), "utf8");

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
}

const rules: Rules = parse(readText("deploy/prometheus/alerts.yaml"));
export const alerts: readonly Alert[] = rules.groups.flatMap((group) => group.rules);

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

export const panels: readonly Panel[] = JSON.parse(readText("deploy/grafana/berth.json")).panels;

/** As Grafana would send it. */
export const panelQueries: readonly string[] = panels
  .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$(job|pool)\b/g, "x"));

/** The metrics that a query reads; those of a histogram by its own name. */
export function metricsIn(query: string): string[] {
  const names = Array.from(query.matchAll(/\bberth_\w+/g), ([name]) => name);
  return names.map((name) => name.replace(/_(?:bucket|count|sum)$/, ""));
}
