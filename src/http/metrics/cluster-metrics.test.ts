import { expect, test } from "vitest";
import { clusterPool } from "../../core/clusters/clusters.suite.ts";
import { clusterSite } from "../clusters/clusters-site.suite.ts";

test("/metrics has clusters by state, phases by driver, and their failures", async () => {
  await using site = await clusterSite([clusterPool("ocp", { size: 2, running: 2 })]);
  await site.clock.advance(60_000);
  await site.make();
  const work = await site.take("creating");
  const body = { failure: "no capacity" };
  await site.call(`DELETE /v1/leases/${work?.id}`, { token: work?.token ?? "", body });
  await site.clock.advance(30_000);
  const scrape = async () => (await site.call("GET /metrics")).text;
  const text = await scrape();
  const labels = 'pool="ocp",driver="command"';
  for (const line of [
    `berth_clusters{${labels},state="free"} 1`,
    `berth_clusters{${labels},state="creating"} 1`,
    `berth_cluster_phase_oldest_seconds{${labels},phase="creating"} 90`,
    `berth_cluster_phase_usual_seconds{${labels},phase="creating"} 60`,
    'berth_clusters_stuck{pool="ocp"} 0',
    'berth_orphan_clusters{template="ocp-aws"} 0',
    `berth_cluster_failures_total{${labels},phase="creating"} 1`,
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  const again = await site.take("creating");
  await site.call(`DELETE /v1/leases/${again?.id}?state=broken`, { token: again?.token ?? "" });
  expect(await scrape()).toContain(`berth_clusters_broken_total{${labels}} 1\n`);
});
