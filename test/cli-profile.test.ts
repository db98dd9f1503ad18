import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";

const slices = Array.from({ length: 3 }, (_, n) => `us-east-1--aws-quota-slice-${n}`);
const config = {
  pools: {
    "aws-slice": { members: slices, lockDelay: "0s" },
    "set-slice": { members: ["aws-2--us-west-1--quota-slice-0"], lockDelay: "0s" },
    "ips-us-east-1": { count: 15, lockDelay: "0s" },
    "ips-us-west-1": { count: 2, lockDelay: "0s" },
    t0: { count: 3, lockDelay: "0s" },
    t1: { count: 5, lockDelay: "0s" },
  },
  profiles: {
    aws: { type: "aws", pool: "aws-slice" },
    "aws-2": { type: "aws", pool: "aws-slice" },
    "aws-ip": { type: "aws", pool: "aws-slice", ipPool: "ips" },
    "openshift-org-aws": {
      type: "aws",
      pool: "set-slice",
      members: ["aws", "aws-2"],
      ipPool: "ips",
    },
  },
};
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.startWith(config);
});
afterAll(() => server[Symbol.asyncDispose]());

const told =
  "env | grep -E '^(LEASED|CLUSTER_|IP_POOL|LEASE[0-9])' | sort; [ -f \"$LEASE_PROXY_CLIENT_SH\" ]";
const run = (args: readonly string[], script = told, env = {}) =>
  server.done(["run", ...args, "--", "sh", "-c", script], {
    LEASED_RESOURCE: undefined,
    SHARED_DIR: server.folder,
    ...env,
  });

describe("berth run --profile", () => {
  test("leases the pools of the profile and sets the variables of the job", async () => {
    const { code, stdout, stderr } = await run(["--profile", "aws"]);
    expect([code, stdout.split("\n")]).toEqual([
      0,
      ["CLUSTER_PROFILE_NAME=aws", "CLUSTER_TYPE=aws", "LEASED_RESOURCE=us-east-1", ""],
    ]);
    expect(stderr).toContain("Acquired 1 lease(s) for aws-slice: [us-east-1--aws-quota-slice-0]");
    expect(await server.json("leases")).toEqual([]);
  });

  test("leases from a Boskos file that also has profiles", async () => {
    await using boskos = await TestServer.startWith({
      resources: [{ type: "aws-quota-slice", state: "free", names: slices }],
      profiles: { aws: { type: "aws", pool: "aws-quota-slice" } },
    });
    const args = ["run", "--profile", "aws", "--", "sh", "-c", "echo $LEASED_RESOURCE"];
    expect(await boskos.done(args)).toMatchObject({ code: 0, stdout: "us-east-1\n" });
  });

  test("runs without IP addresses if too few are free, and logs it", async () => {
    const { stdout, stderr } = await run(["--profile", "openshift-org-aws"]);
    expect(stdout.split("\n")).toEqual([
      "CLUSTER_PROFILE_NAME=aws-2",
      "CLUSTER_PROFILE_SET_NAME=openshift-org-aws",
      "CLUSTER_TYPE=aws",
      "IP_POOL_AVAILABLE=0",
      "LEASED_RESOURCE=us-west-1",
      "",
    ]);
    expect(stderr).toContain("no leases of type ips-us-west-1 available");
  });

  test("takes thirteen IP addresses, and releases the unused ones at once", async () => {
    const script = `echo "$IP_POOL_AVAILABLE"; echo 4 > "$SHARED_DIR/UNUSED_IP_COUNT"
      until [ "$(curl -sf "$BERTH_URL/v1/pools/ips-us-east-1" | grep -o '"free":6')" ]; do sleep 0.1; done
      echo "returned"; rm "$SHARED_DIR/UNUSED_IP_COUNT"`;
    const { code, stdout, stderr } = await run(["--profile", "aws-ip"], script);
    expect([code, stdout]).toEqual([0, "13\nreturned\n"]);
    expect(stderr).toContain("there are 4 unused ip-pool addresses to release");
    expect(stderr.match(/releasing unused ip-pool lease: ips-us-east-1-\d+/g)).toHaveLength(4);
    expect(await server.json("leases")).toEqual([]);
  });

  test.each(["14", "-1", "many"])("ignores %s unused leases and logs it", async (written) => {
    const script = `echo "${written}" > "$SHARED_DIR/UNUSED_IP_COUNT"; sleep 60`;
    const started = server.berth(["run", "--profile", "aws-ip", "--", "sh", "-c", script]);
    await started.says(new RegExp(`Cannot release unused leases: UNUSED_IP_COUNT is "${written}"`));
    started.signal("SIGTERM");
    expect(await started.ended).toBe(143);
    expect(await server.json("leases")).toEqual([]);
  });

  test("refuses an unknown profile and suggests the nearest name", async () => {
    const { code, stderr } = await run(["--profile", "asw"]);
    expect(code).toBe(66);
    expect(stderr).toContain('Cannot find profile "asw"\n  Did you mean "aws"?');
  });

  test("runs without a lease if the server is unreachable and --fail-open is set", async () => {
    const away = ["--server", "http://127.0.0.1:9", "--connect-timeout", "0", "--fail-open"];
    const { code, stdout, stderr } = await run(["--profile", "aws", ...away], "echo ran");
    expect([code, stdout]).toEqual([0, "ran\n"]);
    expect(stderr).toContain("RUNNING WITHOUT A LEASE");
  });
});

describe("berth run --lease", () => {
  test("sets one variable per lease, with names separated by spaces", async () => {
    const leases = ["--lease", "LEASE1=t1:5", "--lease", "LEASE0=t0:3"];
    const { stdout, stderr } = await run(leases, told.replace("[ -f", ": ["));
    expect(stdout.split("\n")).toEqual([
      "LEASE0=t0-1 t0-2 t0-3",
      "LEASE1=t1-1 t1-2 t1-3 t1-4 t1-5",
      "",
    ]);
    expect(stderr).toContain("Acquiring leases for test sh: [t1 t0]");
  });

  test.each([
    ["the first", ["--lease", "A=nope", "--lease", "B=t0"]],
    ["the second", ["--lease", "B=t0", "--lease", "A=nope"]],
  ])("holds nothing where %s is not to be had, and does not run", async (_, leases) => {
    const { code, stdout, stderr } = await run(leases, "echo ran");
    expect([code, stdout]).toEqual([66, ""]);
    expect(stderr).toContain('Cannot find pool "nope"');
    expect(await server.json("leases")).toEqual([]);
  });

  test("refuses a variable that is used twice", async () => {
    const { code, stderr } = await run(["--lease", "A=t0", "--lease", "A=t1"]);
    expect([code, stderr]).toEqual([
      64,
      expect.stringContaining("duplicate environment variable: A"),
    ]);
  });
});

describe("berth run --try", () => {
  const seen = 'echo "$IP_POOL_AVAILABLE:$BERTH_RESOURCE_T0"';

  test("takes the free resources, up to the requested number", async () => {
    expect((await run(["--try", "t0:2"], seen)).stdout).toBe("2:t0-1 t0-2\n");
    const outer = ["--pool", "t0:2", "--", "bin/berth", "run", "--try", "t0:13"];
    const inner = await server.done(["run", ...outer, "--", "sh", "-c", seen], {
      SHARED_DIR: server.folder,
    });
    expect(inner.stdout).toMatch(/^1:t0-\d\n$/);
    expect(await server.json("leases")).toEqual([]);
  });

  test("takes none if fewer than the minimum are free, or if the pool does not exist", async () => {
    expect((await run(["--try", "t0:4-13"], seen)).stdout).toBe("0:\n");
    const unknown = await run(["--try", "nothing:3"], seen);
    expect([unknown.code, unknown.stdout]).toEqual([0, "0:\n"]);
    expect(unknown.stderr).toContain("lease type nothing does not exist");
  });

  test("fails when the server is unreachable", async () => {
    const away = ["--server", "http://127.0.0.1:9", "--connect-timeout", "0"];
    expect((await run(["--try", "t0:3", ...away])).code).toBe(69);
  });
});
