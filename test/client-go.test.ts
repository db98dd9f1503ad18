/** The Go client as Go's own tools see it. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { go, goClientFolder, noGo } from "./go-program.ts";

const timeout = 600_000;

test("is formatted, and vet finds nothing", { timeout }, ({ skip }) => {
  if (noGo) skip(noGo);
  const gofmt = `${go("env", "GOROOT").trim()}/bin/gofmt`;
  expect(execFileSync(gofmt, ["-l", "."], { cwd: goClientFolder, encoding: "utf8" })).toBe("");
  expect(go("vet", "./...")).toBe("");
});

test("passes its own tests, without races where the detector can be built", { timeout }, ({
  skip,
}) => {
  if (noGo) skip(noGo);
  // The detector needs cgo and a C compiler.
  const race = go("env", "CGO_ENABLED").trim() === "1" && hasCompiler() ? ["-race"] : [];
  expect(go("test", ...race, "-count=1", "./...")).toMatch(/^ok\s/m);
});

function hasCompiler(): boolean {
  try {
    execFileSync("sh", ["-c", "command -v gcc || command -v cc"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("has no dependencies", { timeout }, ({ skip }) => {
  if (noGo) skip(noGo);
  expect(go("list", "-m", "all").trim().split("\n")).toHaveLength(1);
});
