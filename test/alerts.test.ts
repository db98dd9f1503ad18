/** Every alert fires when it must, and is silent just before that, in the real rules engine of Prometheus. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, type TestContext, test } from "vitest";
import { copies } from "../scripts/copy-alerts.ts";
import { toHtml } from "../src/http/guide-pages.ts";
import { ran, without } from "./programs.ts";
import { alerts, panelQueries, panels, readText } from "./watch-files.ts";

const place = mkdtempSync(join(tmpdir(), "berth-alerts-test-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Left out, and said so, where there is no Prometheus. */
function needsPromtool(context: TestContext): void {
  const missing = without("promtool", "prometheus");
  context.skip(missing !== false, `${missing}`);
}

/** A series, and its values from minute to minute: `1x9` is ten times 1, `0+5x9` grows by 5. */
type Series = Readonly<Record<string, string>>;
interface Case {
  readonly fires: Series;
  readonly silent: Series;
  /** Minutes after which it is asked. */
  readonly after?: number;
}

const server = (name: string, more = "") => `${name}{job="berth", instance="a"${more}}`;
const other = (name: string) => `${name}{job="berth", instance="b"}`;
const pool = ', pool="aws"';
/** Always above a threshold, and always at it. */
const beyond = (name: string, limit: number, more = ""): Case => ({
  fires: { [server(name, more)]: `${limit + 1}x60` },
  silent: { [server(name, more)]: `${limit}x60` },
});
const gone = (name: string, more = ""): Case => ({
  fires: { [server(name, more)]: "1x5 0x60" },
  // A moment is no reason to wake anybody.
  silent: { [server(name, more)]: "1x38 0 1x60" },
});
const counted = (name: string, perHour: number, more: string): Case => ({
  fires: { [server(name, more)]: `0+${(perHour + 1) / 60}x120` },
  silent: { [server(name, more)]: `0+${perHour / 60}x120` },
  after: 110,
});

const cases: Readonly<Record<string, Case>> = {
  BerthDown: gone("up"),
  BerthAbsent: {
    fires: { 'up{job="other"}': "1x60" },
    silent: { [server("berth_build_info")]: "1x60" },
  },
  BerthJournalNotWritable: {
    fires: {
      [server("berth_journal_writable")]: "0x60",
      [other("berth_journal_writable")]: "0x60",
    },
    // Of several servers only the leader writes.
    silent: {
      [server("berth_journal_writable")]: "1x60",
      [other("berth_journal_writable")]: "0x60",
    },
  },
  BerthNoLeader: {
    fires: { [server("berth_replica_leads")]: "0x60", [other("berth_replica_leads")]: "0x60" },
    silent: { [server("berth_replica_leads")]: "0x60", [other("berth_replica_leads")]: "1x60" },
  },
  BerthOneReplicaLeft: {
    fires: { [server("berth_replica_leads")]: "1x60" },
    silent: { [server("berth_replica_leads")]: "1x60", [other("berth_replica_leads")]: "0x60" },
  },
  BerthReplicaStale: beyond("berth_replica_stale_seconds", 10),
  BerthEventLoopSlow: {
    fires: { [server("berth_nodejs_eventloop_lag_p99_seconds")]: "0.6x60" },
    silent: { [server("berth_nodejs_eventloop_lag_p99_seconds")]: "0.4x60" },
  },
  BerthTooManyWaits: beyond("berth_open_waits", 16_000),
  BerthCallsLimited: {
    fires: { [server("berth_limited_calls_total", ', limit="requests"')]: "0+90x60" },
    silent: { [server("berth_limited_calls_total", ', limit="requests"')]: "0+50x60" },
  },
  BerthConfigRefused: gone("berth_config_reload_ok"),
  BerthClockWrong: {
    fires: { [server("berth_clock_ahead_seconds")]: "-61x60" },
    silent: { [server("berth_clock_ahead_seconds")]: "-59x60" },
  },
  BerthHistoryBehind: beyond("berth_history_lag_events", 10_000),
  BerthAuditBehind: beyond("berth_audit_behind_events", 10_000),
  BerthWaitTooLong: beyond("berth_oldest_waiter_seconds", 7_200, pool),
  BerthPoolSuspended: beyond("berth_pool_suspended", 0, pool),
  BerthResourcesQuarantined: beyond("berth_resources", 0, `${pool}, state="quarantined"`),
  BerthResourcesStuck: beyond("berth_resources_stuck", 0, pool),
  BerthCleaningFails: counted("berth_cleanings_failed_total", 3, pool),
  BerthLeasesExpire: {
    // 20 of 120 an hour, and the same 20 of 240.
    fires: {
      [server("berth_expiries_total", pool)]: "0+0.3333x120",
      [server("berth_grants_total", pool)]: "0+2x120",
    },
    silent: {
      [server("berth_expiries_total", pool)]: "0+0.3333x120",
      [server("berth_grants_total", pool)]: "0+4x120",
    },
    after: 110,
  },
  BerthMirrorDown: gone("berth_mirror_up"),
  BerthAdmissionDown: gone("berth_admission_up", pool),
  BerthClustersStuck: beyond("berth_clusters_stuck", 0, pool),
  BerthOrphanClusters: beyond("berth_orphan_clusters", 0, ', template="ocp"'),
  BerthClusterFailures: counted("berth_cluster_failures_total", 5, `${pool}, phase="creating"`),
};

/** What `promtool test rules` reads: in `series`, how often the alert fires. */
function ruleTest(alert: string, series: Series, after: number, count: number): object {
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
        eval_time: `${after}m`,
        exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
      },
    ],
  };
}

function promtool(alert: string, tests: readonly object[]) {
  const file = join(place, `${alert}.json`);
  const rules = fileURLToPath(new URL("../deploy/prometheus/alerts.yaml", import.meta.url));
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  return ran("promtool", ["test", "rules", file]);
}

describe("the alert", () => {
  test.for(Object.entries(cases))("%s fires, and is silent before", ([alert, each], context) => {
    needsPromtool(context);
    const { fires, silent, after = 40 } = each;
    const tests = [ruleTest(alert, fires, after, 1), ruleTest(alert, silent, after, 0)];
    expect(promtool(alert, tests)).toMatchObject({ status: 0 });
  });

  test("is found wrong by a test that expects too much", (context) => {
    needsPromtool(context);
    const { fires } = cases["BerthReplicaStale"] ?? { fires: {} };
    expect(promtool("BerthReplicaStale", [ruleTest("BerthReplicaStale", fires, 1, 1)]).status).toBe(
      1,
    );
  });

  test("has a case, a section in the runbook, and a link to it that the server answers", () => {
    const shown = toHtml(readText("docs/guides/runbook.md"));
    const names = alerts.map(({ alert }) => alert);
    expect(Object.keys(cases).sort()).toEqual([...names].sort());
    const runbook = readText("docs/guides/runbook.md");
    const sections = Array.from(runbook.matchAll(/^### (\w+)$/gm), ([, name]) => name);
    expect(sections).toEqual(names);
    for (const { alert, annotations, labels } of alerts) {
      const anchor = `https://berth.example.org/docs/runbook#${alert.toLowerCase()}`;
      expect(annotations.runbook_url).toBe(anchor);
      expect(shown).toContain(`<h3 id="${new URL(anchor).hash.slice(1)}">${alert}</h3>`);
      expect(["critical", "warning"]).toContain(labels.severity);
    }
  });

  test.each(Object.entries(copies))("is up to date in deploy/%s", (path, text) => {
    expect(readText(`deploy/${path}`)).toBe(text);
  });
});

describe("deploy/grafana/berth.json", () => {
  test("has panels that do not overlap, each with a name and a number of its own", () => {
    expect(panels.length).toBeGreaterThan(20);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ title, gridPos: { x, w } }) => title === "" || x + w > 24)).toEqual([]);
  });

  test("has queries that Prometheus understands", (context) => {
    needsPromtool(context);
    const rules = panelQueries.map((expr, at) => ({ record: `panel:${at}`, expr }));
    const file = join(place, "panels.json");
    const check = () => {
      writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
      return ran("promtool", ["check", "rules", file]).status;
    };
    expect(check()).toBe(0);
    rules.push({ record: "panel:bad", expr: "sum(berth_leases" });
    expect(check()).not.toBe(0);
  });
});
