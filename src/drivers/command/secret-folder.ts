import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A file with the credentials, which only this user can read, while `use` runs. Arguments and
 * variables can be read by others, and end up in the output of programs that fail.
 */
export async function withSecretFile<Result>(
  values: Readonly<Record<string, string>>,
  use: (path: string | undefined) => Promise<Result>,
): Promise<Result> {
  if (Object.keys(values).length === 0) return use(undefined);
  const folder = await mkdtemp(join(tmpdir(), "berth-credentials-")); // With mode 0700.
  try {
    const path = join(folder, "credentials.json");
    await writeFile(path, JSON.stringify(values), { mode: 0o600, flag: "wx" });
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
