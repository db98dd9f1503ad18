/** The Python client as Python's own tools see it. */
import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { noPython, python } from "./python-program.ts";

const cwd = fileURLToPath(new URL("../clients/python", import.meta.url));
const script = fileURLToPath(new URL("../scripts/python-tools", import.meta.url));
const isRequired = process.env["BERTH_PYTHON_TESTS"] === "required";
const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };

test("passes its own tests", ({ skip }) => {
  if (noPython) skip(noPython);
  const args = ["-W", "error", "-m", "unittest", "discover", "tests"];
  const { status, stderr } = spawnSync(python, args, { cwd, env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/Ran [1-9]\d* tests/);
});

test("passes mypy --strict, for the oldest Python that it is for", { timeout: 300_000 }, ({
  skip,
}) => {
  const tools = spawnSync(script, isRequired ? [] : ["--find"], { encoding: "utf8" });
  if (tools.status !== 0) return skip("mypy is not installed: run scripts/python-tools");
  const args = [
    "--strict",
    "--no-incremental",
    "--python-version",
    "3.9",
    "berth.py",
    "tests/vectors.py",
  ];
  const older = mypy(tools.stdout.trim(), args);
  // A new mypy may not know Python 3.9 any more; then the oldest one that it knows is enough.
  const said = /python version|not supported/i.test(older)
    ? mypy(tools.stdout.trim(), args.toSpliced(2, 2))
    : older;
  expect(said).toContain("Success: no issues found");
});

function mypy(folder: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(`${folder}/mypy`, args, { cwd, env, encoding: "utf8" });
  return stdout + stderr;
}

test("is one file that imports nothing but Python's own modules", ({ skip }) => {
  if (noPython) skip(noPython);
  const list =
    "import ast, sys; tree = ast.parse(open('berth.py').read()); " +
    "names = {n.module if isinstance(n, ast.ImportFrom) else a.name for n in ast.walk(tree) " +
    "if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}; " +
    "print([n for n in names if n.split('.')[0] not in sys.stdlib_module_names])";
  expect(execFileSync(python, ["-c", list], { cwd, encoding: "utf8" }).trim()).toBe("[]");
});
