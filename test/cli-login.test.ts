/** People log in on the command line, through a real OpenID provider. */
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";
import { issuerFor, PeopleProvider } from "./people-provider.ts";
import { Person } from "./provider-person.ts";

describe("berth login", () => {
  let provider: PeopleProvider;
  let server: TestServer;
  let state: string;
  beforeAll(async () => {
    provider = await PeopleProvider.start();
    const auth = { issuers: [issuerFor(provider)] };
    server = await TestServer.startWith({ pools: { aws: { count: 2 } }, auth });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    provider.configure({});
    state = await mkdtemp(join(tmpdir(), "berth-login-"));
  });
  afterEach(async () => {
    provider.comeBack();
    await rm(state, { recursive: true });
  });

  const path = () => join(state, "berth", "logins.json");
  const env = (more: object = {}) => ({ XDG_STATE_HOME: state, DISPLAY: "", ...more });
  const whoami = () => server.done(["whoami"], env());

  /** Logs in with a browser that only follows the address. */
  async function logIn(name: string, more: readonly string[] = []): Promise<string> {
    const login = server.berth(["login", ...more], env({ BROWSER: "/bin/true" }));
    const [url = ""] = await login.says(/http:\S+\/auth\?\S+/);
    const page = await new Person().signIn(url, name);
    expect(page).toContain("go back to the terminal");
    expect(await login.ended, login.all).toBe(0);
    return login.all;
  }

  test("opens a browser, keeps the tokens where only the user can read them, and forgets them", async () => {
    expect((await whoami()).code).toBe(77);
    const said = await logIn("ann");
    expect(said).toContain("as ann@example.org, operator in space ops, renewed when it expires");
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    const kept = await readFile(path(), "utf8");
    const { logins } = JSON.parse(kept);
    const { idToken, refreshToken } = Object(logins[server.url]);
    for (const token of [idToken, refreshToken]) {
      await watchFor(token);
      expect(token).toBeTypeOf("string");
      expect(said).not.toContain(token);
    }
    const who = await whoami();
    expect(who.stdout).toContain(
      "ann@example.org, operator in space ops, by the token of an issuer",
    );
    expect(who.stdout).toContain(
      `Logged in with berth login through ${provider.url}; the token expires in `,
    );
    expect(who.stdout).toMatch(/ \((\d{4}-\d\d-\d\d )?\d\d:\d\d\), and is renewed by itself/);
    const drained = await server.done(["drain", "aws-1"], env());
    expect(drained.code, drained.all).toBe(0);
    const out = await server.berth(["logout"], env()).says(/Logged out of/);
    expect(out).not.toBeNull();
    expect((await whoami()).code).toBe(77);
    expect(await readFile(path(), "utf8")).not.toContain(idToken);
    // The issuer was told.
    const answer = await fetch(`${provider.url}/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        client_id: "berth-cli",
      }),
    });
    expect(answer.status).toBe(400);
  });

  test("shows a code where there is no browser, and with --device", async () => {
    for (const [args, more] of [
      [["login"], {}],
      [["login", "--device"], { BROWSER: "/bin/false" }],
    ] as const) {
      const login = server.berth(args, env(more));
      const [, url = ""] = await login.says(/or visit (\S+)/);
      expect(login.all).toMatch(/enter the code [A-Z]{4}-[A-Z]{4}/);
      await new Person().approveDevice(url, "bob");
      expect(await login.ended, login.all).toBe(0);
      expect((await whoami()).stdout).toContain("bob@example.org, holder in space team");
    }
  });

  test("says so if the person cancels, and if no rule is for the person", async () => {
    const cancelled = server.berth(["login"], env({ BROWSER: "/bin/true" }));
    const [url = ""] = await cancelled.says(/http:\S+\/auth\?\S+/);
    await new Person().cancel(url);
    expect(await cancelled.ended).toBe(77);
    expect(cancelled.stderr).toContain("it was cancelled or denied");
    const other = server.berth(["login"], env({ BROWSER: "/bin/true" }));
    const [again = ""] = await other.says(/http:\S+\/auth\?\S+/);
    await new Person().signIn(again, "eve");
    expect(await other.ended).toBe(77);
    expect(other.stderr).toContain("no rule of the issuer");
    await expect(readFile(path())).rejects.toThrow("ENOENT");
  });

  test("renews an expired token once for many commands, also while others wait", async () => {
    provider.configure({ idTokenSeconds: 40 }); // Less than a minute, so it must be renewed.
    await logIn("ann");
    const before = JSON.parse(await readFile(path(), "utf8")).logins[server.url];
    // The issuer is down: the token is still good.
    provider.goDown();
    expect((await whoami()).code).toBe(0);
    provider.idTokenSeconds = 600;
    let renewals = 0;
    provider.trouble = (request, response) => {
      if (request.url === "/token") renewals += 1;
      provider.answer(request, response);
    };
    const many = Array.from({ length: 5 }, () => server.berth(["whoami"], env()));
    expect(await Promise.all(many.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);
    const after = JSON.parse(await readFile(path(), "utf8")).logins[server.url];
    expect(after.idToken).not.toBe(before.idToken);
    expect(renewals).toBe(1);
  });

  test("asks to log in again if the token has expired and cannot be renewed", async () => {
    await logIn("ann");
    const { logins } = JSON.parse(await readFile(path(), "utf8"));
    const { refreshToken: _, ...login } = logins[server.url];
    const past = { ...login, idToken: `e30.${btoa('{"exp":1}')}.x` };
    await writeFile(path(), JSON.stringify({ logins: { [server.url]: past } }));
    const answer = await whoami();
    expect(answer.code).toBe(77);
    expect(answer.stderr).toContain("it has expired");
    expect(answer.stderr).toContain("Run berth login again");
    const none = { ...past, refreshToken: "not-a-refresh-token" };
    await writeFile(path(), JSON.stringify({ logins: { [server.url]: none } }));
    expect((await whoami()).stderr).toContain("it has expired");
    provider.goDown();
    const down = await whoami();
    expect([down.code, down.stderr]).toEqual([69, expect.stringContaining("renews your login")]);
  });

  test("is used by no other server, counts less than other credentials, and must be private", async () => {
    await logIn("ann");
    await using other = await TestServer.startWith({
      pools: { aws: { count: 1 } },
      auth: { issuers: [issuerFor(provider)] },
    });
    expect((await other.done(["whoami"], env())).code).toBe(77);
    const set = await server.done(["whoami"], env({ BERTH_TOKEN: "another-token" }));
    expect([set.code, set.stderr]).toEqual([77, expect.stringContaining("does not know them")]);
    await chmod(path(), 0o644);
    expect((await whoami()).stderr).toContain("other users can read it");
  });

  test.each([
    [["--server", "http://berth.example.org"], "others could read the tokens on their way"],
    [["--issuer", "https://elsewhere"], "its issuers are http://127.0.0.1"],
  ])("%s is refused", async (args, message) => {
    const login = server.berth(["login", ...args], env());
    expect(await login.ended).toBe(77);
    expect(login.stderr).toContain(message);
  });

  test("needs a server with authentication", async () => {
    await using open = await TestServer.start({ aws: { count: 1 } });
    const login = open.berth(["login"], env());
    expect(await login.ended).toBe(77);
    expect(login.stderr).toContain("it has no authentication");
  });

  test("takes an answer from the browser that has begun, and from nobody else", async () => {
    const login = server.berth(["login"], env({ BROWSER: "/bin/true" }));
    const [url = ""] = await login.says(/http:\S+\/auth\?\S+/);
    const callback = new URL(url).searchParams.get("redirect_uri") ?? "";
    for (const query of ["", "?code=x&state=wrong", "?error=access_denied", "?state="]) {
      expect((await fetch(callback + query)).status, query).toBe(404);
    }
    await new Person().signIn(url, "ann");
    expect(await login.ended, login.all).toBe(0);
  });
});
