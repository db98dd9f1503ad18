import { readFileSync } from "node:fs";
import type { CliCommand } from "./cli-command.ts";

/** package.json is two folders up, both from `src/cli` and from `dist/cli`. */
export function versionText(): string {
  const manifest = new URL("../../package.json", import.meta.url);
  const found: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  const known = typeof found === "object" && found !== null && "version" in found;
  return known ? String(found.version) : "unknown";
}

export const version: CliCommand = {
  async run({ print }) {
    print(versionText());
    return undefined;
  },
};
