import { hash, randomBytes } from "node:crypto";
import { type Role, roles } from "../../auth/roles.ts";
import type { CliCommand } from "../cli-command.ts";
import { flag } from "../flags.ts";
import { InvalidValue, matching, oneOf, type Parse } from "../values.ts";

interface Flags {
  readonly name: string;
  readonly space: string;
  readonly role: Role;
  readonly expires?: string;
}

const name = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  253,
  "letters, digits and ._- after a letter or digit",
);

const time: Parse<string> = (text) => {
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) {
    return new Date(text).toISOString();
  }
  throw new InvalidValue("it is not a date", "Write it like 2027-01-31 or 2027-01-31T12:00:00Z");
};

const create: CliCommand = {
  options: [
    flag("--name <name>", "who uses it; recorded with everything that it does", name),
    flag("--space <space>", "the space of its leases", name).default("default"),
    flag("--role <role>", `one of ${roles.join(", ")}`, oneOf(...roles)).default("holder"),
    flag("--expires <time>", "from when on the server refuses it", time),
  ].map((option) => (option.long === "--name" ? option.makeOptionMandatory() : option)),
  help: `
Prints the token once, on stdout, and its line for auth.tokens in the configuration file, which has
only the hash, on stderr. To replace a token, add the new line, reload, then remove the old line.

Example:
  berth token new --name ci --space payments > ci.token`,
  async run({ flags, print, note }) {
    const { name: called, space, role, expires } = flags<Flags>();
    const token = `berth_${randomBytes(32).toString("base64url")}`;
    const sha256 = hash("sha256", token, "hex");
    const until = expires === undefined ? "" : `, expires: "${expires}"`;
    print(token);
    note("Store it now: nobody can print it again. Add this to auth.tokens of the configuration:");
    note(`    - { name: ${called}, sha256: ${sha256}, space: ${space}, role: ${role}${until} }`);
    return undefined;
  },
};

export const token: CliCommand = {
  subcommands: { new: { summary: "Make a token, and its line for the file", command: create } },
};
