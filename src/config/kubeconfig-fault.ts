import { readFileSync, statSync } from "node:fs";
import { parse } from "yaml";
import { type Explanation, explainFault } from "./file-faults.ts";

/**
 * Why no API server can be found with this file; undefined if one may be. Nothing of its content is
 * repeated: it has credentials.
 */
export function faultOfKubeconfig(
  path: string,
  context: string | undefined,
): Explanation | undefined {
  let text: string;
  try {
    // A pipe can be read only once, by who needs it.
    if (!statSync(path).isFile()) return undefined;
    text = readFileSync(path, "utf8");
  } catch (error) {
    const hint = "check the path, which is relative to this file";
    return { state: `cannot be read here: ${explainFault(error).state}`, hint };
  }
  const hint = "write it again, for example with kubectl config view --minify --flatten --raw";
  if (text.trim() === "") return { state: "is empty", hint };
  let content: unknown;
  try {
    content = parse(text, { logLevel: "error" });
  } catch {
    return { state: "is not YAML", hint };
  }
  const { "current-context": current } = Object(content) as { "current-context"?: unknown };
  if (context !== undefined || (typeof current === "string" && current !== "")) return undefined;
  return {
    state: "has no current context",
    hint: "add context: and its name here, or set it there: kubectl config use-context",
  };
}
