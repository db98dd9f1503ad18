/**
 * `node src/cli/write-share.ts DIR` writes the manual page and the completions of the shells into the
 * places below DIR where systems look for them, as below `/usr/share`.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { completionScripts } from "./completion.ts";
import { manualPage } from "./manual.ts";
import { wholeProgram } from "./program.ts";
import { versionText } from "./version.ts";

const [share = "dist/share"] = process.argv.slice(2);
const files = {
  "man/man1/berth.1": manualPage(await wholeProgram(), versionText()),
  "bash-completion/completions/berth": completionScripts.bash,
  "zsh/site-functions/_berth": completionScripts.zsh,
  "fish/vendor_completions.d/berth.fish": completionScripts.fish,
};
for (const [path, text] of Object.entries(files)) {
  const file = join(share, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text.endsWith("\n") ? text : `${text}\n`);
}
