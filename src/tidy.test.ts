/** What a machine can check of the style, so that no reviewer has to. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "./cli/commands.ts";

const root = new URL("../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** All that is ours and is text; what is installed, built or measured is not. */
const files = globSync("**/*.{ts,tsx,js,json,md,yaml,yml,sql,sh,html,css}", {
  cwd: root,
  exclude: ["**/node_modules/**", "**/dist/**", "**/coverage/**", "package-lock.json"],
});
/** All that Git would commit; in an unpacked archive, the same as above. */
const tracked = trackedFiles() ?? files;
const code = files.filter((path) => /\.tsx?$/.test(path));
const core = code.filter((path) => /^src\/core\/.*(?<!\.test|\.suite)\.ts$/.test(path));

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

function trackedFiles(): readonly string[] | undefined {
  try {
    const list = execFileSync("git", ["ls-files", "-z"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return list
      .toString()
      .split("\0")
      .filter((path) => path !== "" && existsSync(new URL(path, root)));
  } catch {
    return undefined; // There is no Git, or this is no clone.
  }
}

/** The files that have something, each with the first line that has it. */
function having(
  paths: readonly string[],
  pattern: RegExp,
  clean = (text: string) => text,
): string[] {
  return paths.flatMap((path) => {
    const line = clean(read(path))
      .split("\n")
      .findIndex((text) => pattern.test(text));
    return line < 0 ? [] : [`${path}:${line + 1}`];
  });
}

test("there is something to check", () => {
  expect(core.length).toBeGreaterThan(20);
  expect(code.length).toBeGreaterThan(150);
  expect(files).toContain("README.md");
});

describe("the core", () => {
  test.each([
    /\bDate\b/,
    /\bMath\.random\b/,
    /\bcrypto\b/,
    /\bperformance\b/,
    /\bprocess\b/,
    /\bsetTimeout\b/,
    /\bawait\b/,
  ])("has no %s", (pattern) => {
    expect(having(core, pattern, withoutComments)).toEqual([]);
  });

  test("would be caught with a clock or dice in it", () => {
    expect(/\bDate\b/.test(withoutComments("const now = Date.now(); // Date"))).toBe(true);
    expect(/\bDate\b/.test(withoutComments("/** No Date here. */"))).toBe(false);
  });
});

describe("no file", () => {
  // Written in pieces, so that this file does not find itself.
  const marker = (...parts: readonly string[]) => new RegExp(`\\b${parts.join("")}\\b`);

  test("has a note that something is broken", () => {
    expect(having(files, marker("FIX", "ME"))).toEqual([]);
  });

  test("names a place on somebody's machine", () => {
    const homes = ["work", "home/[a-z]", "Users/[A-Za-z]", "root"];
    expect(having(files, new RegExp(`(?<![\\w.])/(?:${homes.join("|")})/`))).toEqual([]);
  });

  test("has the marks of a merge that was not finished", () => {
    const marks = new RegExp(`^(?:${["<", ">", "|"].map((c) => `[${c}]{7}`).join("|")})(?: |$)`);
    expect(marks.test(`${"<".repeat(7)} HEAD`)).toBe(true);
    expect(having(tracked, marks)).toEqual([]);
  });

  test("runs one test alone, or none", () => {
    expect(having(code, /\b(?:test|describe|it)\.(?:only|skip|todo)\b/)).toEqual([]);
  });

  test("exports by default, but where a tool wants it", () => {
    const found = having(code, /^export default\b/);
    expect(
      found
        .map((place) => place.replace(/:\d+$/, ""))
        .filter((path) => !/\.config\.ts$/.test(path)),
    ).toEqual([]);
  });

  test("exports everything that another has", () => {
    expect(having(code, /^export \*/)).toEqual([]);
  });

  test("has a name that says nothing, or is not kebab-case", () => {
    const odd = code.filter((path) => {
      const name = basename(path).replace(/(\.(test|property|suite|open|config|d))*\.tsx?$/, "");
      const empty = /^(utils?|helpers?|common|manager|index|misc)$/.test(name);
      return empty || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
    });
    expect(odd).toEqual([]);
  });

  test("has a line that a reader must scroll for", () => {
    const long = code.flatMap((path) => {
      const line = read(path)
        .split("\n")
        .findIndex((text) => text.length > 160);
      return line < 0 ? [] : [`${path}:${line + 1}`];
    });
    expect(long).toEqual([]);
  });
});

describe("package-lock.json", () => {
  test("names no registry: it must install from any mirror", () => {
    expect(read("package-lock.json")).not.toMatch(/"resolved": "(?!web")|https?:\/\/registry/);
  });

  /** Binaries for other platforms are named, so that `npm ci` works there; nobody here has seen them. */
  test("has a checksum for every package that is installed on Linux", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      packages: Record<
        string,
        { integrity?: string; optional?: boolean; cpu?: string[]; link?: true }
      >;
    };
    const bare = Object.entries(packages).filter(([path, { integrity, optional, cpu, link }]) => {
      const elsewhere = (optional === true && cpu !== undefined) || link === true;
      return path.includes("node_modules/") && integrity === undefined && !elsewhere;
    });
    expect(bare.map(([path]) => path)).toEqual([]);
  });
});

test.each(["package.json", "web/package.json"])("%s pins every dependency exactly", (path) => {
  const { dependencies, devDependencies } = JSON.parse(read(path));
  const versions: [string, string][] = Object.entries({ ...dependencies, ...devDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test.each([
  ["deploy/kubernetes/base/kustomization.yaml", /newTag: (.+)/],
  ["deploy/helm/berth/Chart.yaml", /^version: (.+)/m],
  ["deploy/helm/berth/Chart.yaml", /^appVersion: (.+)/m],
  ["docs/guides/install.md", /localhost\/berth:([\d.]+)/],
])("%s has the version of package.json: %s", (path, pattern) => {
  expect(pattern.exec(read(path))?.[1]).toBe(JSON.parse(read("package.json")).version);
});

describe("README.md", () => {
  test.each(commands.map(({ name }) => name))("names the command %s", (name) => {
    const table = read("README.md")
      .split("\n")
      .filter((line) => /^\| `berth /.test(line));
    const named = table.flatMap((line) => [...line.matchAll(/`(?:berth )?([a-z-]+)`/g)]);
    expect(named.map(([, command]) => command)).toContain(name);
  });

  test("names no command that there is not", () => {
    const known = commands.map(({ name }) => name);
    const used = [...read("README.md").matchAll(/^(?:bin\/)?berth ([a-z-]+)/gm)];
    for (const [, name] of used) expect(known).toContain(name);
  });
});

describe("docs/decisions", () => {
  const records = globSync("docs/decisions/*.md", { cwd: root }).map((path) => basename(path));
  const numberOf = (record: string) => record.split("-", 1)[0] ?? "";

  test("has one record for each number", () => {
    const numbers = records.map(numberOf);
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });

  test.each(records)("has the number of %s in its title too", (record) => {
    expect(read(`docs/decisions/${record}`)).toMatch(new RegExp(`^# ${numberOf(record)}: `));
  });
});

describe("links in the documents", () => {
  const documents = files.filter((path) => path.endsWith(".md"));

  test.each(documents)("of %s lead somewhere", (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)];
    for (const [, target = ""] of links) {
      const found = globSync(target.replace(/\/$/, ""), { cwd: new URL(".", new URL(path, root)) });
      expect(found, `${path} links to ${target}`).not.toEqual([]);
    }
  });
});
