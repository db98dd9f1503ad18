/** How the command line proves who it is: in a CI system, in a pod, with a token of the server. */
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestIssuer } from "../src/auth/issuers/test-issuer.suite.ts";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { findCredentials } from "../src/cli/identity/credentials.ts";
import { type Finished, runInProcess } from "./cli-in-process.ts";
import { berthPath, TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";

const requestToken = "the-request-token-of-the-job";

/** GitHub's service that signs tokens for the jobs that it runs. */
class Github implements AsyncDisposable {
  readonly issuer: TestIssuer;
  readonly audiences: (string | null)[] = [];
  lifetimeSeconds = 300;
  /** Of its clock. */
  aheadMs = 0;
  status = 200;
  readonly #server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://github");
    this.audiences.push(searchParams.get("audience"));
    const isJob = request.headers.authorization === `Bearer ${requestToken}`;
    const now = Date.now() + this.aheadMs;
    const exp = Math.floor(now / 1_000) + this.lifetimeSeconds;
    const claims = { aud: searchParams.get("audience"), sub: "repo:acme/shop:ref:main", exp };
    const value = await this.issuer.sign(now, { ...claims, n: this.audiences.length });
    response.writeHead(isJob && searchParams.has("api-version") ? this.status : 403);
    response.end(JSON.stringify({ value, count: value.length }));
  });

  constructor(issuer: TestIssuer) {
    this.issuer = issuer;
  }

  static async start(issuer: TestIssuer): Promise<Github> {
    const github = new Github(issuer);
    github.#server.listen(0, "127.0.0.1");
    await once(github.#server, "listening");
    return github;
  }

  get env(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const audience = "https://berth.example.org";

function configOf(issuer: TestIssuer): object {
  const rules = [{ claims: { sub: "*" }, space: "ci", role: "holder" }];
  const tokens = [{ name: "static", sha256: tokenHash("s3cret"), space: "ops", role: "viewer" }];
  const auth = { tokens, issuers: [{ issuer: issuer.url, audience, rules }] };
  return { pools: { aws: { count: 1 } }, auth };
}

class World implements AsyncDisposable {
  readonly issuer: TestIssuer;
  readonly github: Github;
  readonly server: TestServer;

  constructor(issuer: TestIssuer, github: Github, server: TestServer) {
    this.issuer = issuer;
    this.github = github;
    this.server = server;
  }

  static async make(): Promise<World> {
    await watchFor(requestToken);
    const issuer = await TestIssuer.start();
    const server = await TestServer.startWith(configOf(issuer));
    return new World(issuer, await Github.start(issuer), server);
  }

  whoami(env: Record<string, string>): Promise<Finished> {
    return runInProcess(["whoami"], { BERTH_URL: this.server.url, ...env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.github[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}

describe("berth whoami", () => {
  let world: World;
  beforeAll(async () => {
    world = await World.make();
  });
  beforeEach(() => {
    world.github.status = 200;
    world.github.audiences.length = 0;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("is the job of GitHub Actions that runs it", async () => {
    const { code, stdout } = await world.whoami({ ...world.github.env, BERTH_AUDIENCE: audience });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "repo:acme/shop:ref:main, holder in space ci, by the token of an issuer\n",
    });
    expect(world.github.audiences).toEqual([audience]);
  });

  test("asks for a token with the server's address as its audience", async () => {
    const { code, stderr } = await world.whoami(world.github.env);
    expect(world.github.audiences).toEqual([world.server.url]);
    expect(code).toBe(77);
    expect(stderr).toContain(`is not ${audience}`);
  });

  test("is the job of GitLab whose id token is in BERTH_ID_TOKEN", async () => {
    const token = await world.issuer.sign(Date.now(), { sub: "project_path:acme/shop" });
    const { stdout } = await world.whoami({ BERTH_ID_TOKEN: token });
    expect(stdout).toContain("project_path:acme/shop, holder in space ci");
  });

  test("says that there is no token, rather than that it is refused", async () => {
    const { code, stderr } = await world.whoami({});
    expect(code).toBe(77);
    expect(stderr).toContain("Cannot identify you: you have no token");
  });

  test("reports refused credentials in the form of every error", async () => {
    const { code, stdout, stderr } = await world.whoami({ BERTH_TOKEN: "wrong" });
    expect({ code, stdout }).toEqual({ code: 77, stdout: "" });
    expect(stderr).toMatch(
      /^berth: Cannot identify you: the server does not accept .*\n {2}\S.*\n$/,
    );
  });

  test("has no refusal in the JSON of a caller that is accepted", async () => {
    const env = { BERTH_URL: world.server.url, BERTH_TOKEN: "s3cret" };
    const { stdout } = await runInProcess(["whoami", "-o", "json"], env);
    const found: unknown = JSON.parse(stdout);
    expect(found).toMatchObject({ name: "static", operator: false });
    expect(found).not.toHaveProperty("refusal");
    expect(found).toHaveProperty("whyNotOperator", expect.stringContaining("operator"));
  });

  test("takes the first credentials of the list", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-identity-"));
    const sign = (sub: string) => world.issuer.sign(Date.now(), { sub });
    await writeFile(join(folder, "flag"), await sign("by-flag"));
    await writeFile(join(folder, "file"), `${await sign("by-file")}\n`);
    const all = {
      ...world.github.env,
      BERTH_AUDIENCE: audience,
      BERTH_ID_TOKEN: await sign("by-id-token"),
      BERTH_TOKEN_FILE: join(folder, "file"),
      BERTH_TOKEN: "s3cret",
    };
    const run = (args: string[], env: Record<string, string>) =>
      runInProcess(["whoami", ...args], { BERTH_URL: world.server.url, ...env });
    const flag = ["--token-file", join(folder, "flag")];
    expect((await run(flag, all)).stdout).toMatch(/^by-flag,/);
    expect((await run([], all)).stdout).toBe(
      "static, viewer in space ops, by a token of the server\n",
    );
    const { BERTH_TOKEN: _token, ...withoutToken } = all;
    expect((await run([], withoutToken)).stdout).toMatch(/^by-file,/);
    const { BERTH_TOKEN_FILE: _file, ...withoutFile } = withoutToken;
    expect((await run([], withoutFile)).stdout).toMatch(/^by-id-token,/);
    const { BERTH_ID_TOKEN: _id, ...github } = withoutFile;
    expect((await run([], github)).stdout).toMatch(/^repo:acme/);
  });

  test("says that the file of --token-file does not exist", async () => {
    const file = join(tmpdir(), "berth-no-such.token");
    const { code, stderr } = await runInProcess(["whoami", "--token-file", file], {
      BERTH_URL: world.server.url,
    });
    expect(code).toBe(64);
    expect(stderr).toContain(`Cannot use --token-file "${file}": there is no such file`);
  });

  test("has the credentials of --token-file in the command of berth run", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-identity-"));
    const file = join(folder, "job.token");
    await writeFile(file, await world.issuer.sign(Date.now(), { sub: "outer" }));
    const command = ["--pool", "aws", "--", berthPath, "whoami"];
    const args = ["run", "--token-file", file, ...command];
    const { code, stdout } = await world.server.done(args, { BERTH_TOKEN: "s3cret" });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "outer, holder in space ci, by the token of an issuer\n",
    });
  });

  test.each([
    [403, 77, "id-token: write"],
    [500, 69, "Cannot reach the server at http://127.0.0.1"],
  ])("explains what is wrong if GitHub answers with %i", async (status, code, text) => {
    world.github.status = status;
    const finished = await world.whoami(world.github.env);
    expect(finished.code).toBe(code);
    expect(finished.stderr).toContain(text);
    expect(finished.all).not.toContain(requestToken);
  });
});

test("leases and queue show the space of each holder", async () => {
  await using world = await World.make();
  const token = await world.issuer.sign(Date.now(), { sub: "job" });
  const run = (...args: string[]) =>
    runInProcess(args, { BERTH_URL: world.server.url, BERTH_ID_TOKEN: token });
  expect((await run("acquire", "--pool", "aws")).code).toBe(0);
  await fetch(`${world.server.url}/v1/leases`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ items: [{ pool: "aws", count: 1 }], holder: "second" }),
  });
  expect((await run("leases")).stdout).toMatch(/HOLDER +SPACE +RESOURCES.*\n.* ci +aws-1 /);
  expect((await run("queue")).stdout).toMatch(/HOLDER +SPACE +WANTS.*\n.* second +ci +aws /);
});

describe("findCredentials()", () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });

  test("fetches the id token of GitHub once, until it is about to expire", async () => {
    await using issuer = await TestIssuer.start();
    await using github = await Github.start(issuer);
    Object.assign(process.env, github.env);
    const read = findCredentials(undefined, "https://berth.example.org");
    const [one, two] = await Promise.all([read(), read()]);
    expect(one).toBe(two);
    expect(await read()).toBe(one);
    expect(github.audiences).toHaveLength(1);

    github.lifetimeSeconds = 59;
    for (const aheadMs of [0, 7_200_000, -7_200_000]) {
      github.aheadMs = aheadMs; // The clock of a runner may be hours behind, or ahead.
      const late = findCredentials(undefined, "https://berth.example.org");
      const first = await late();
      expect(await late(), `${aheadMs}`).not.toBe(first);
    }

    Object.assign(github, { lifetimeSeconds: 300, aheadMs: -7_200_000 });
    const early = findCredentials(undefined, "https://berth.example.org");
    expect(await early()).toBe(await early());
  });

  test("fetches no id token for a server that others can listen to", async () => {
    await using issuer = await TestIssuer.start();
    await using github = await Github.start(issuer);
    Object.assign(process.env, github.env);
    process.env["XDG_STATE_HOME"] = "/nonexistent"; // Nobody has logged in either.
    expect(await findCredentials(undefined, "http://berth.example.org")()).toBeUndefined();
    expect(await findCredentials(undefined, "http://127.0.0.1:8080")()).toMatch(/^eyJ/);
    process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] = "http://elsewhere.example/token";
    expect(await findCredentials(undefined, "https://berth.example.org")()).toBeUndefined();
  });

  /** Kubernetes writes a new folder, and then replaces a link to it. */
  test("reads a projected token again after Kubernetes has replaced it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-projected-"));
    const rotate = async (token: string) => {
      await writeFile(join(folder, token), token);
      await rm(join(folder, "token"), { force: true });
      await symlink(token, join(folder, "token"));
    };
    await rotate("first");
    process.env["BERTH_TOKEN_FILE"] = join(folder, "token");
    const read = findCredentials(undefined, "http://127.0.0.1:8080");
    expect(await read()).toBe("first");
    await rotate("second");
    expect(await read()).toBe("second");
  });
});
