/**
 * What is on everything that a server makes on a hub, with each driver: whose it is, also for others; and that
 * a program has the last word on whether it is gone.
 */
import { hash } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Cluster } from "../src/api/cluster-schemas.ts";
import { BerthClient } from "../src/client/berth-client.ts";
import { secretKind } from "../src/drivers/hub/kind.ts";
import { externalName } from "../src/drivers/names.ts";
import { TestServer } from "./cli-processes.ts";
import { hubDrivers } from "./hub-worlds.ts";
import { noControllers } from "./kube-binaries.ts";
import { sharedCluster } from "./shared-cluster.ts";

const cluster = sharedCluster();
const patient = { timeout: 120_000, interval: 200 };
const examples = fileURLToPath(new URL("../examples/hubs/", import.meta.url));
const token = { team: "token-of-team-a-0123456789", admin: "token-of-admin-0123456789" };
const auth = {
  tokens: [
    { name: "a", sha256: hash("sha256", token.team), space: "team-a", role: "holder" },
    { name: "admin", sha256: hash("sha256", token.admin), space: "ops", role: "admin" },
  ],
};

describe.skipIf(noControllers)("a cluster on a hub", { timeout: 300_000 }, () => {
  test.each(hubDrivers)(
    "made by %s says whose it is, and is gone when a program says so",
    async (...row) => {
      const [, { template, open }] = row;
      await using world = await open(cluster);
      const folder = await mkdtemp(join(tmpdir(), "berth-tags-"));
      const verify = join(folder, "verify.sh");
      // It finds a disk until the file `clean` is there.
      const script = `read -r request; echo "$request" >> ${folder}/asked
if [ -f ${folder}/clean ]; then echo '[]'; else echo '["disk-7"]'; fi\n`;
      await writeFile(verify, `#!/bin/sh\n${script}`);
      await chmod(verify, 0o755);
      const example = parse(await readFile(join(examples, "berth.yaml"), "utf8"));
      const own = example.templates[template] as { manifest?: string };
      const { namespace, ...more } = { namespace: undefined, ...world.more };
      const made = {
        ...{ ...own, ...more, expiry: "2h", kubeconfig: cluster.adminConfig, verify: [verify] },
        ...("namespace" in own && { namespace }),
        ...(own.manifest && { manifest: join(examples, own.manifest) }),
      };
      const config = { auth, templates: { made }, pools: { p: { template: "made", max: 2 } } };
      const env = { PULL_SECRET: "{}", AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "x" };
      await using server = await TestServer.startIn(env, config);
      try {
        const client = new BerthClient({ url: server.url, token: token.team });
        const admin = new BerthClient({ url: server.url, token: token.admin });
        const lease = await client.acquire({ items: [{ pool: "p" }], holder: "job", ttl: "1h" });
        const [found] = (await admin.clusters.list({})).items as [Cluster];
        const name = externalName(found.instance);
        const labels = async () => (await world.main(name))?.metadata.labels;
        await expect.poll(labels, patient).toMatchObject({
          ...{
            "berth/broker": world.namespace,
            "berth/name": name,
            "berth-instance": found.instance,
          },
          ...{ "berth-pool": "p", "berth-resource": found.name, "berth-space": "team-a" },
          "berth/expires": expect.stringMatching(/^\d{10}$/),
        });
        const tags = {
          ...{ "berth-broker": world.namespace, "berth-instance": found.instance },
          ...{ "berth-pool": "p", expirationDate: expect.stringMatching(/^\d{4}-.*Z$/) },
        };
        const { spec } = (await world.main(name)) as { spec?: Spec };
        const { resourceTags, userTags } = spec?.platform?.aws ?? {};
        if (template === "hosted") {
          const pairs = (resourceTags ?? []).map(({ key, value }) => [key, value]);
          expect(Object.fromEntries(pairs)).toMatchObject(tags);
        }
        if (template === "installed") {
          expect(userTags).toMatchObject(tags);
          const within = { namespace: name };
          const secret = await world.controllers.api.find(secretKind, "install-config", within);
          const { data = {} } = secret as { data?: Record<string, string> };
          const text = Buffer.from(data["install-config.yaml"] ?? "", "base64").toString();
          expect(parse(text)).toMatchObject({ platform: { aws: { userTags: tags } } });
          expect(parse(text)).toMatchObject({ compute: [{ name: "worker", replicas: 3 }] });
        }

        // The back end says that it is gone; the program has found something.
        await client.release(lease);
        const says = async () => (await admin.clusters.list({})).items.map((each) => each.message);
        await expect.poll(says, patient).toEqual(["Something is left: disk-7"]);
        expect(await world.main(name)).toBe(undefined);
        await writeFile(join(folder, "clean"), "");
        const left = async () => (await admin.clusters.list({})).items;
        await expect.poll(left, patient).toEqual([]);
        const [asked] = (await readFile(join(folder, "asked"), "utf8")).split("\n");
        expect(JSON.parse(asked ?? "")).toEqual({ name, instance: found.instance });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

interface Spec {
  readonly platform?: {
    readonly aws?: {
      readonly userTags?: Readonly<Record<string, string>>;
      readonly resourceTags?: readonly { readonly key: string; readonly value: string }[];
    };
  };
}
