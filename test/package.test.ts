/** The package as a user gets it: packed, installed in an empty folder, and used from there. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Process } from "./cli-processes.ts";
import { output, ran, without } from "./programs.ts";

const place = mkdtempSync(join(tmpdir(), "berth-package-test-"));
const prefix = join(place, "prefix");
const share = join(prefix, "lib/node_modules/berth/dist/share");
const path = [join(prefix, "bin"), dirname(process.execPath), process.env["PATH"]];
const env = { ...process.env, HOME: place, PATH: path.join(delimiter) };

beforeAll(() => {
  const archive = output(fileURLToPath(new URL("../scripts/package", import.meta.url)), []).trim();
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
  output("npm", ["install", "--global", "--prefix", prefix, ...quiet, archive], {
    cwd: place,
    env: { ...process.env, PATH: env.PATH },
  });
}, 240_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("the installed package", () => {
  test("serves its example, and lends from it to a job", async () => {
    const args = ["serve", "--data", join(place, "data"), "--listen", "127.0.0.1:0"];
    const server = new Process(join(prefix, "bin/berth"), args, env);
    const [, url = ""] = await server.says(/ at (http:[^\s"]+)/);
    const job = ["run", "--server", url, "--pool", "aws-account", "--"];
    const line = ["sh", "-c", "echo I have $BERTH_RESOURCE_AWS_ACCOUNT"];
    expect(output("berth", [...job, ...line], { cwd: place, env })).toMatch(/^I have aws-\d$/m);
    const page = await fetch(url, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain("<title>Berth</title>");
    server.signal("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  test("has the client for programs", () => {
    const file = join(prefix, "lib/client.mjs");
    writeFileSync(
      file,
      'import { BerthClient } from "berth/client"; console.log(BerthClient.name)',
    );
    expect(output(process.execPath, [file], { env })).toBe("BerthClient\n");
  });

  test("has a manual page that man finds and renders without warnings", (context) => {
    context.skip(without("man", "man-db") !== false, `${without("man", "man-db")}`);
    const utf8 = { ...env, LC_ALL: "C.UTF-8", MANPATH: join(prefix, "share/man") };
    const strict = ["--warnings", "-E", "UTF-8", "-Tutf8", "-Z"];
    expect(ran("man", [...strict, "berth"], { env: utf8 })).toMatchObject({
      status: 0,
      stderr: "",
    });
    const page = output("man", ["berth"], { env: { ...utf8, MANWIDTH: "80" } });
    expect(page).toContain("berth serve [options]");
    expect(page).toContain("--journal <url>");
  });

  test("completes in bash from its own file", () => {
    const script = `. ${share}/bash-completion/completions/berth
      COMP_WORDS=(berth comp) COMP_CWORD=1; _berth; echo "\${COMPREPLY[@]}"`;
    expect(output("bash", ["-c", script], { env })).toBe("completion\n");
  });

  test("completes in zsh from a folder of its functions", (context) => {
    context.skip(without("zsh", "zsh") !== false, `${without("zsh", "zsh")}`);
    // Completion needs a terminal; here the candidates are printed instead of shown.
    const script = `fpath=(${share}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D
      _describe() { print -l -- \${(P)2} }
      words=(berth comp); CURRENT=2; \${_comps[berth]}; \${_comps[berth]}`;
    const line = "completion:Print a completion script for bash, zsh or fish\n";
    expect(output("zsh", ["-fc", script], { env })).toBe(line + line);
  });

  test("completes in fish from its own file", (context) => {
    context.skip(without("fish", "fish") !== false, `${without("fish", "fish")}`);
    const script = `source ${share}/fish/vendor_completions.d/berth.fish; complete -C 'berth comp'`;
    expect(output("fish", ["-c", script], { env })).toMatch(/^completion\tPrint a completion/);
  });
});
