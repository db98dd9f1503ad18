/**
 * What `bin/berth` runs. Node keeps what it compiles in a folder, so that the next command starts in a
 * third of the time; this has to be asked for before anything else is imported.
 */
import { mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";

const folder = cacheFolder();
if (folder !== undefined) enableCompileCache(folder);

await import("./main.ts");

/**
 * The user's own: in one that is shared, such as /tmp, a stranger could leave code for us. Undefined
 * where it cannot be made, on a read-only file system for instance; then Node compiles as before.
 */
function cacheFolder(): string | undefined {
  const { HOME: home, NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env;
  if (NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return undefined; // Node obeys these itself.
  const named = process.env["XDG_CACHE_HOME"];
  const caches = named || (home && join(home, ".cache"));
  if (!caches) return undefined;
  const parts = [caches, join(caches, "berth"), join(caches, "berth", "compiled")];
  // Step by step: Node's own way to make them all tries for ever where nothing can be made, as in /proc.
  return parts.every(makeFolder) ? parts.at(-1) : undefined;
}

function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EEXIST";
  }
}
