import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CliCommand } from "../cli-command.ts";

/** The file is at the root of the package, in the repository and in the published package. */
export const shellClientPath = fileURLToPath(
  new URL("../../../clients/shell/berth.sh", import.meta.url),
);

export const shellClient: CliCommand = {
  help: `
In a job step under berth run --proxy: source "$LEASE_PROXY_CLIENT_SH". Elsewhere:
berth shell-client > berth.sh && source ./berth.sh
It needs bash and curl. Functions: lease__acquire, lease__release, lease__cat and
lease__install_lease_eligible. The comment at the top of the file explains them.`,
  async run() {
    process.stdout.write(readFileSync(shellClientPath));
    return undefined;
  },
};
