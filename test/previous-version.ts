/** The version before this one, from the history of the repository, with the packages of this one. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The last commit before the journal in PostgreSQL had formats. Move it with each release. */
const commit = "957afc7";
const root = fileURLToPath(new URL("..", import.meta.url));

/** Undefined if the history is not here, as in a shallow clone. */
export function previousVersion(): { readonly berth: string; remove(): void } | undefined {
  const known = spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root });
  if (known.status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "berth-previous-"));
  const archive = execFileSync("git", ["archive", commit], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { berth: join(folder, "bin", "berth"), remove };
}
