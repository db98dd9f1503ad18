/** Schemathesis sends what the OpenAPI document allows and what it forbids, as nobody and as every role. */
import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../src/auth/roles.ts";
import { tokenHash } from "../src/auth/static-tokens.ts";
import { TestServer } from "./cli-processes.ts";
import { watchFor } from "./evidence.ts";

/** Printed by Schemathesis too; another one finds other things. */
const seed = process.env["BERTH_SCHEMATHESIS_SEED"] ?? "14";
const script = fileURLToPath(new URL("../scripts/python-tools", import.meta.url));
const isRequired = process.env["BERTH_PYTHON_TESTS"] === "required";
const folder = findTools();
const tokenOf = (role: string) => `schemathesis-token-of-${role}`;

/** Undefined: this machine has no Schemathesis. */
function findTools(): string | undefined {
  try {
    return execFileSync(script, isRequired ? [] : ["--find"], { encoding: "utf8" }).trim();
  } catch (error) {
    if (isRequired) throw error;
    return undefined;
  }
}

/** Everything that the document has, but for the feed, whose answer does not end. */
const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];

function schemathesis(
  { url, folder: cwd }: TestServer,
  caller: string,
  thorough: boolean,
): Promise<string> {
  const args = [
    ...["run", `${url}/openapi.json`, "--url", url, "--seed", seed, "--workers", "1"],
    ...["--checks", checks.join(","), "--max-examples", thorough ? "3" : "8", "--no-shrink"],
    ...["--phases", thorough ? "examples,coverage,fuzzing" : "fuzzing", "--warnings", "off"],
    ...["--request-timeout", "30", "--suppress-health-check", "all"],
    ...["--exclude-path", "/v1/events"],
    ...(caller === "nobody" ? [] : ["--header", `Authorization: Bearer ${tokenOf(caller)}`]),
  ];
  return new Promise((resolve) => {
    // It stores what it has found in its folder.
    const options = { cwd, timeout: 240_000, maxBuffer: 50e6 };
    execFile(`${folder}/st`, args, options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

describe("the server answers as its OpenAPI document says", () => {
  let server: TestServer | undefined;
  beforeAll(async () => {
    if (folder === undefined) return;
    const tokens = roles.map((role) => {
      return { name: role, sha256: tokenHash(tokenOf(role)), space: "team", role };
    });
    for (const role of roles) await watchFor(tokenOf(role));
    const shared = { place: "least-used", members: { v1: { capacity: { vcpus: 8 } } } };
    const pools = { aws: { count: 3 }, vsphere: shared };
    // With the usual ones most answers would be 429.
    const most = 1_000_000;
    const limits = { failuresPerMinute: most, failuresBurst: most, requestsPerSecond: most };
    server = await TestServer.startWith({ pools, auth: { tokens, limits } });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  // The first two try every limit of every schema; the other roles differ in who may call.
  test.for(["nobody", "admin", ...roles.filter((role) => role !== "admin")])(
    "to %s",
    { timeout: 300_000 },
    async (caller, { skip }) => {
      if (server === undefined)
        return skip("Schemathesis is not installed: run scripts/python-tools");
      const said = await schemathesis(server, caller, caller === "nobody" || caller === "admin");
      const lines = said.split("\n").map((line) => line.slice(0, 300));
      const [found = ""] = lines.filter((line) => /\d+ generated/.test(line));
      console.log(`Schemathesis as ${caller}, seed ${seed}:${found}`);
      expect(said, lines.slice(0, 200).join("\n")).toContain("No issues found");
      expect(Number(/(\d+) generated/.exec(found)?.[1])).toBeGreaterThan(100);
      expect(server.log).not.toContain("a bug: the request failed");
    },
  );
});
