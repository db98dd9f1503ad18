import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatProblem, formatWarning } from "./document.ts";
import { fileBytesMax } from "./limits.ts";
import { loadConfig } from "./load.ts";

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "berth-load-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** What is said of a file, named relative to the test's directory. */
async function said(name: string): Promise<string[]> {
  const config = await loadConfig(join(directory, name));
  const lines = config.ok ? [] : config.problems.map(formatProblem);
  return lines.map((line) => line.replaceAll(join(directory, "/"), ""));
}

test("loadConfig() reads a file, byte order mark and all", async () => {
  await writeFile(join(directory, "good.yaml"), "\uFEFFpools: { a: { count: 1 } }\n");
  expect(await loadConfig(join(directory, "good.yaml"))).toMatchObject({
    ok: true,
    pools: [{ name: "a", members: [{ name: "a-1" }] }],
  });
});

test("loadConfig() names the file and the place of each problem", async () => {
  await writeFile(join(directory, "bad.yaml"), "pools:\n  a: { count: 1, ttl: 5 min }\n");
  expect(await said("bad.yaml")).toEqual([
    'bad.yaml:2:23: Cannot read pools.a.ttl: "5 min" is not a duration (write 5m)',
  ]);
});

describe("the program of a janitor", () => {
  const missing =
    "there is no such program (check the path, which is relative to this file, or the name and PATH)";
  const load = async (name: string, command: string) => {
    const pools = `pools:\n  a: { count: 1, janitor: { command: [${command}, -x] } }\n`;
    await writeFile(join(directory, name), pools);
    const config = await loadConfig(join(directory, name));
    if (!config.ok) throw new Error(config.problems.map(formatProblem).join());
    return {
      command: config.janitors[0]?.command,
      warnings: config.warnings.map((warning) =>
        formatWarning(warning).replaceAll(join(directory, "/"), ""),
      ),
    };
  };

  beforeAll(async () => {
    await mkdir(join(directory, "bin"));
    await writeFile(join(directory, "bin", "clean.sh"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(join(directory, "plain.txt"), "", { mode: 0o644 });
  });

  test.each(["./bin/clean.sh", "bin/clean.sh", "bin/../bin/clean.sh"])(
    "is found relative to the file: %s",
    async (written) => {
      const program = join(directory, "bin", "clean.sh");
      expect(await load("janitor.yaml", written)).toEqual({
        command: [program, "-x"],
        warnings: [],
      });
    },
  );

  test("is looked up in PATH if it is only a name, and stays an absolute path", async () => {
    expect(await load("janitor.yaml", "sh")).toEqual({ command: ["sh", "-x"], warnings: [] });
    const written = await load("janitor.yaml", "/bin/sh");
    expect(written).toEqual({ command: ["/bin/sh", "-x"], warnings: [] });
  });

  test.each([
    ["./missing.sh", "missing.sh", missing],
    ["no-such-program-anywhere", "no-such-program-anywhere", missing],
    ["./bin", "bin", "it is not a file (name a program in it)"],
    ["./plain.txt", "plain.txt", "it is not executable (use chmod +x)"],
  ])("%s is warned of, with its place", async (written, program, fault) => {
    expect((await load("janitor.yaml", written)).warnings).toEqual([
      `janitor.yaml:2:38: warning: pools.a.janitor.command: "${program}" cannot be run here: ${fault}`,
    ]);
  });
});

type Setup = (path: string) => Promise<unknown>;

const unreadable: Readonly<Record<string, readonly [Setup, string]>> = {
  missing: [
    async () => {},
    "missing: Cannot read the file: there is no such file (check the path, or create the file)",
  ],
  directory: [
    (path) => mkdir(path),
    "directory: Cannot read the file: it is a directory (name a file in it)",
  ],
  loop: [
    (path) => symlink(path, path),
    "loop: Cannot read the file: its symbolic links go round in a circle (check where they point)",
  ],
  "latin1.yaml": [
    (path) => writeFile(path, Buffer.from("pools:\n  caf\xe9: { count: 1 }\n", "latin1")),
    "latin1.yaml:2:6: Cannot read the file: it is not UTF-8 (save it as UTF-8)",
  ],
  "utf16.yaml": [
    (path) => writeFile(path, "\uFEFFpools: {}\n", "utf16le"),
    "utf16.yaml:1:1: Cannot read the file: it is not UTF-8 (save it as UTF-8)",
  ],
  "large.yaml": [
    async (path) => {
      await writeFile(path, "");
      await truncate(path, fileBytesMax + 1);
    },
    "large.yaml: Cannot read the file: it is larger than the limit of 4,194,304 bytes " +
      "(write count instead of members where the names do not matter)",
  ],
};

test.each(Object.entries(unreadable))("loadConfig() explains: %s", async (name, [setup, want]) => {
  await setup(join(directory, name));
  expect(await said(name)).toEqual([want]);
});

describe("the kubeconfig of the mirror and of an admission", () => {
  const load = async (written: string) => {
    const admission = `{ checkCapacity: { kubeconfig: ${written} } }`;
    const text = `mirror: { namespace: ci, kubeconfig: ${written} }
pools: { a: { count: 1, admission: ${admission} } }\n`;
    await writeFile(join(directory, "kube.yaml"), text);
    const config = await loadConfig(join(directory, "kube.yaml"));
    if (!config.ok) throw new Error(config.problems.map(formatProblem).join());
    const paths = [config.mirror?.kubeconfig, config.admissions[0]?.check.kubeconfig];
    return { paths, warnings: config.warnings.map(formatWarning) };
  };

  test("is relative to the file", async () => {
    const path = join(directory, "kubeconfig");
    await writeFile(path, "current-context: ci\n");
    for (const written of ["kubeconfig", "./kubeconfig", path]) {
      expect(await load(written)).toEqual({ paths: [path, path], warnings: [] });
    }
  });

  test("is warned of if there is no such file", async () => {
    const { paths, warnings } = await load("absent");
    const path = join(directory, "absent");
    expect(paths).toEqual([path, path]);
    expect(warnings).toHaveLength(2);
    for (const warning of warnings) {
      expect(warning).toContain(`"${path}" cannot be read here: there is no such file`);
    }
  });
});

test("loadConfig() explains a file that is not ours", async () => {
  await chmod(directory, 0o755);
  await writeFile(join(directory, "secret.yaml"), "pools: {}\n");
  await chmod(join(directory, "secret.yaml"), 0o000);
  const isRoot = process.geteuid?.() === 0; // Who may read everything, unless as somebody else.
  if (isRoot) process.seteuid?.("nobody");
  const found = await said("secret.yaml").finally(() => isRoot && process.seteuid?.(0));
  expect(found).toEqual([
    "secret.yaml: Cannot read the file: this user may not read it " +
      "(allow it, or run as another user)",
  ]);
});

test("loadConfig() explains a path below a file", async () => {
  await writeFile(join(directory, "file"), "");
  expect(await said("file/berth.yaml")).toEqual([
    "file/berth.yaml: Cannot read the file: a part of its path is not a directory (check the path)",
  ]);
});
