/** The image: built without a registry, then started and used as in production. */
import { hash } from "node:crypto";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type ContainerMount,
  noContainers,
  OciImage,
  type RunningContainer,
} from "./oci-container.ts";
import { output, ran } from "./programs.ts";

const build = fileURLToPath(new URL("../deploy/container/build", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "berth-container-test-"));
const tag = `localhost/berth-test:${process.pid}`;
const token = "berth_token-of-the-test-of-the-image";
const config = {
  pools: { "aws-account": { members: ["aws-1", "aws-2"], ttl: "10m" } },
  auth: {
    tokens: [{ name: "ci", sha256: hash("sha256", token), space: "ci", role: "operator" }],
  },
};
const mounts: ContainerMount[] = [
  { from: join(place, "data"), to: "/var/lib/berth", writable: true },
  { from: join(place, "berth.yaml"), to: "/etc/berth/berth.yaml" },
];
const asCi = { BERTH_TOKEN: token };
let image: OciImage | undefined;

beforeAll(() => {
  if (noContainers() !== false) return;
  output(build, ["--tag", tag]);
  image = new OciImage(tag);
  mkdirSync(join(place, "data"));
  chownSync(join(place, "data"), 65_532, 65_532);
  writeFileSync(join(place, "berth.yaml"), JSON.stringify(config));
}, 240_000);
afterAll(() => {
  image?.[Symbol.dispose]();
  rmSync(place, { recursive: true, force: true });
});
beforeEach((context) => context.skip(noContainers() !== false, `${noContainers()}`));

function theImage(): OciImage {
  if (image === undefined) throw new Error("The image was not built");
  return image;
}

async function serving(): Promise<RunningContainer> {
  const started = theImage().start(mounts);
  await started.says(/Berth lends 2 resources of 1 pool from \/etc\/berth\/berth\.yaml/);
  return started;
}

/** What Node says when it writes a file there. */
function writing(started: RunningContainer, path: string): string {
  const script = `try { fs.writeFileSync(${JSON.stringify(path)}, ""); console.log("written") }
    catch ({ code }) { console.log(code) }`;
  return started.exec(["/usr/local/bin/node", "-e", script]).stdout.trim();
}

describe("the image", () => {
  test("is small, is not root, has a health check, and nothing of the checkout's tools", () => {
    const { config: about, root } = theImage();
    expect(about.User).toBe("65532:65532");
    expect(Object.keys(about.Volumes)).toEqual(["/var/lib/berth"]);
    expect(about.Healthcheck.Test[0]).toBe("CMD");
    const megabytes = Number.parseInt(output("du", ["-sm", root]), 10);
    expect(megabytes).toBeLessThan(260);
    const modules = join(root, "usr/local/lib/berth/node_modules");
    expect(existsSync(join(modules, "fastify"))).toBe(true);
    const tools = ["typescript", "vitest", "playwright-core", "oidc-provider"];
    expect(tools.filter((name) => existsSync(join(modules, name)))).toEqual([]);
    const foreign = ["-perm", "/6000", "-o", "-type", "f", "-uid", "65532"];
    expect(output("find", [root, "-xdev", ...foreign])).toBe("");
  });

  test("lends through a read-only root, stops on TERM, and goes on with the same volume", async () => {
    const first = await serving();
    try {
      expect(writing(first, "/usr/local/lib/berth/x")).toBe("EROFS");
      expect(writing(first, "/etc/berth/berth.yaml")).toBe("EROFS");
      expect(first.exec(theImage().config.Healthcheck.Test.slice(1)).status).toBe(0);
      const job = ["run", "--pool", "aws-account", "--", "/usr/local/bin/node", "-p"];
      const answer = first.berth([...job, "process.env.BERTH_RESOURCE_AWS_ACCOUNT"], asCi);
      expect(answer).toMatchObject({ status: 0, stdout: expect.stringMatching(/^aws-\d$/m) });
      const kept = first.berth(["acquire", "--pool", "aws-account", "--holder", "kept"], asCi);
      expect(kept.status).toBe(0);
      expect(first.berth(["leases"]).stderr).toMatch(/token/);
    } finally {
      first.stop();
    }
    expect(await first.ended).toBe(0);
    expect(first.all).toContain('"msg":"stopped"');

    const second = await serving();
    try {
      const { stdout } = second.berth(["leases", "-o", "json"], asCi);
      expect(JSON.parse(stdout)).toMatchObject([{ holder: "kept" }]);
    } finally {
      second.stop();
    }
    expect(await second.ended).toBe(0);
  });

  test("says what is missing if it is started without a configuration", async () => {
    const started = theImage().start(mounts.slice(0, 1));
    expect(await started.ended).toBe(78);
    expect(started.stderr).toContain("/etc/berth/berth.yaml");
  });

  test("fails its health check when nothing serves", () => {
    const [, node = "", ...script] = theImage().config.Healthcheck.Test;
    expect(node).toBe("/usr/local/bin/node");
    expect(ran("unshare", ["--net", process.execPath, ...script]).status).toBe(1);
  });
});
