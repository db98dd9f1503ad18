import { hash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { type Role, roles } from "../../auth/roles.ts";
import { hasRealDate, parseDuration } from "../../core/model/time.ts";
import type { CliCommand } from "../cli-command.ts";
import { usageError } from "../failure.ts";
import { flag } from "../flags.ts";
import { InvalidValue, matching, oneOf, type Parse } from "../values.ts";

interface Flags {
  readonly name: string;
  readonly space: string;
  readonly role: Role;
  readonly expires?: string;
  readonly out?: string;
}

const name = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  253,
  "letters, digits and ._- after a letter or digit",
);

const expiry: Parse<string> = (text) => {
  const durationMs = parseDuration(text);
  const isDate = hasRealDate(text);
  const atMs = isDate ? Date.parse(text) : Date.now() + (durationMs ?? Number.NaN);
  if (Number.isNaN(new Date(atMs).getTime())) {
    const hint = "Write it like 30d, 2027-01-31 or 2027-01-31T12:00:00Z";
    throw new InvalidValue("it is not a time", hint);
  }
  if (atMs <= Date.now()) throw new InvalidValue("it is in the past", "Use a later time");
  return new Date(atMs).toISOString();
};

const create: CliCommand = {
  options: [
    flag("--name <name>", "who uses it; recorded with everything that it does", name),
    flag("--space <space>", "the space of its leases", name).default("default"),
    flag("--role <role>", `one of ${roles.join(", ")}`, oneOf(...roles)).default("holder"),
    flag(
      "--expires <time>",
      "when it expires: a duration such as 30d, 2027-01-31 or 2027-01-31T12:00:00Z",
      expiry,
    ),
    flag("--out <file>", "write it to a new file that only you can read, instead of stdout"),
  ].map((option) => (option.long === "--name" ? option.makeOptionMandatory() : option)),
  help: `
Prints the token once, on stdout, and its line for auth.tokens in the configuration file, which has
only the hash, on stderr. To replace a token, add the new line, reload, then remove the old line.

Example:
  berth token new --name ci --space payments --out ci.token`,
  async run({ flags, print, note }) {
    const { name: called, space, role, expires, out } = flags<Flags>();
    const token = `berth_${randomBytes(32).toString("base64url")}`;
    const sha256 = hash("sha256", token, "hex");
    const until = expires === undefined ? "" : `, expires: "${expires}"`;
    if (out === undefined) {
      print(token);
      note("Store it now: nobody can print it again");
    } else await writeTokenFile(out, token);
    note("Add this to auth.tokens of the configuration:");
    note(`    - { name: ${called}, sha256: ${sha256}, space: ${space}, role: ${role}${until} }`);
    return undefined;
  },
};

/** Never replaces a file: it may be the only copy of a token that is in use. */
async function writeTokenFile(path: string, token: string): Promise<void> {
  try {
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const state = code === "EEXIST" ? "the file exists" : code;
    throw usageError(
      `Cannot write --out "${path}": ${state}`,
      "Name a new file in your own folder",
    );
  }
}

export const token: CliCommand = {
  subcommands: { new: { summary: "Make a token, and its line for the file", command: create } },
};
