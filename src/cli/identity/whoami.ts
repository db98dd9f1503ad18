import type { Whoami } from "../../api/schemas.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { outputFlag } from "../flags.ts";
import { momentAhead } from "../show/age.ts";
import { formatData } from "../show/listing.ts";
import { plain } from "../terminal/text.ts";
import { findGivenToken } from "./credentials.ts";
import { findGithubToken } from "./github-token.ts";
import { readLogins } from "./login-store.ts";
import { expiryOf } from "./token-expiry.ts";

interface Flags {
  readonly output: "table" | "json" | "yaml";
  readonly tokenFile?: string;
}

/** How the server knows it. An older server does not say. */
const proofs: Readonly<Record<string, string>> = {
  none: ", without credentials",
  token: ", by a token of the server",
  issuer: ", by the token of an issuer",
  certificate: ", by a certificate",
};

export const whoami: CliCommand = {
  options: [outputFlag("table", "json", "yaml")],
  help: `
Credentials are taken from the first of these:
  1. --token-file FILE (read before each call)
  2. $BERTH_TOKEN
  3. $BERTH_TOKEN_FILE (read before each call)
  4. $BERTH_ID_TOKEN, for id tokens of GitLab
  5. GitHub Actions, in a job with the permission id-token: write. The audience is $BERTH_AUDIENCE,
     else the address of the server, which must be https or on the same machine.
  6. berth login, for the server where you have logged in; renewed when it expires

Exits with 77 if the server does not accept the credentials.`,
  async run({ client, flags, print }) {
    const { output, tokenFile } = flags<Flags>();
    const found = await client.whoami();
    if (output !== "table") print(await formatData(identityOf(found), output));
    else if (!found.authentication) print("The server has no authentication");
    else if (found.name !== null) {
      const proof = proofs[found.proof ?? ""] ?? "";
      print(`${found.name}, ${found.role} in space ${found.space}${proof}`);
      const login = await usedLogin(tokenFile, client.url);
      if (login !== undefined) print(login);
    }
    if (isAccepted(found)) return undefined;
    const given = findGivenToken(tokenFile) ?? findGithubToken(client.url);
    const hasToken = given !== undefined || (await readLogins())[client.url] !== undefined;
    const state = hasToken ? "the server does not accept the credentials" : "you have no token";
    const message = `Cannot identify you: ${state}`;
    const hint = found.refusal ?? "See berth whoami --help";
    throw new CliError(message, plain(hint), exitCodes.refused);
  },
};

/** Undefined if the token is not that of `berth login`. */
async function usedLogin(tokenFile: string | undefined, url: string): Promise<string | undefined> {
  const other = findGivenToken(tokenFile) ?? findGithubToken(url);
  const { [url]: login } = other === undefined ? await readLogins() : {};
  if (login === undefined) return undefined;
  const through = `Logged in with berth login through ${plain(login.issuer)}`;
  const ends = expiryOf(login.idToken);
  if (ends === 0) return through;
  const isPast = ends < Date.now();
  const expires = `${isPast ? "expired" : "expires"} ${momentAhead(ends)}`;
  const isRenewed = login.refreshToken !== undefined;
  return `${through}; the token ${expires}${isRenewed ? ", and is renewed by itself" : ""}`;
}

function isAccepted({ authentication, name }: Whoami): boolean {
  return !authentication || name !== null;
}

/** The reason why an accepted caller is no operator has another name, as it is not a failure. */
function identityOf(found: Whoami): object {
  if (!isAccepted(found)) return found;
  const { refusal, ...identity } = found;
  return refusal === null ? identity : { ...identity, whyNotOperator: refusal };
}
