import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";

interface Flags {
  readonly output: "table" | "json" | "yaml";
}

export const whoami: CliCommand = {
  options: [outputFlag("table", "json", "yaml")],
  help: "\nExits with 77 if the server does not accept the credentials.",
  async run({ client, flags, print, note }) {
    const { output } = flags<Flags>();
    const found = await client.whoami();
    if (output !== "table") print(await formatData(found, output));
    else if (!found.authentication) print("The server has no authentication");
    else if (found.name !== null) print(`${found.name}, ${found.role} in space ${found.space}`);
    if (found.authentication && found.name === null) {
      note(found.refusal ?? "The server does not accept the credentials");
      return exitCodes.refused;
    }
    return undefined;
  },
};
