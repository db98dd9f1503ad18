import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CliCommand } from "../cli-command.ts";

/** At the root of the package, as written and as published alike. */
export const shellClientPath = fileURLToPath(new URL("../../../client/berth.sh", import.meta.url));

export const shellClient: CliCommand = {
  help: `
In a step of a job: source "$LEASE_PROXY_CLIENT_SH", which berth run --proxy has set; elsewhere:
berth shell-client > berth.sh && source ./berth.sh
It needs bash and curl. Functions: lease__acquire, lease__release, lease__cat and
lease__install_lease_eligible; the head of the file explains them.`,
  async run() {
    process.stdout.write(readFileSync(shellClientPath));
    return undefined;
  },
};
