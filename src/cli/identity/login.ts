import type { SignInOffer } from "../../api/schemas.ts";
import { isProtectedUrl } from "../../auth/protected-url.ts";
import type { DeviceCode } from "../../auth/sign-in/device-sign-in.ts";
import type { PersonClient, PersonTokens } from "../../auth/sign-in/person-tokens.ts";
import type { ServerMetadata } from "../../auth/sign-in/provider.ts";
import { BerthClient } from "../../client/berth-client.ts";
import type { CliCommand, Context } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag } from "../flags.ts";
import { momentAhead } from "../show/age.ts";
import { plain } from "../terminal/text.ts";
import { findGivenToken } from "./credentials.ts";
import { changeLogin } from "./login-store.ts";
import { loginsPath } from "./logins-path.ts";
import { browserCommand, openBrowser } from "./open-browser.ts";
import { expiryOf } from "./token-expiry.ts";

interface Flags {
  readonly device?: boolean;
  readonly issuer?: string;
}

/** For the password, a second factor and consent. */
const signInMs = 600_000;

export const login: CliCommand = {
  options: [
    flag(
      "--device",
      "show a code to enter in a browser of any device, instead of opening one here",
    ),
    flag("--issuer <url>", "which issuer, if the server has several"),
  ],
  help: `
Signs you in through the issuer that the server names: in a browser of this machine, or with a code
if there is none. The tokens are kept in $XDG_STATE_HOME/berth/logins.json (else ~/.local/state),
which only you can read, and renewed while the issuer allows it. They are sent to this server only.
All other credentials count more than a login; see berth whoami --help.

Examples:
  berth login --server https://berth.example.org
  berth login --device`,
  async run(context) {
    const { note } = context;
    const server = context.client.url;
    if (!isProtectedUrl(server)) throw refused(server, "others could read the tokens on their way");
    const client = await chooseIssuer(context, server);
    const tokens = await signIn(context, client);
    const caller = new BerthClient({ url: server, token: tokens.idToken });
    const { name, role, space, refusal } = await caller.whoami();
    if (name === null) throw refused(server, plain(refusal ?? "it does not accept the token"));
    await changeLogin(server, async () => ({ ...client, ...tokens }));
    const ends = expiryOf(tokens.idToken);
    const isRenewed = tokens.refreshToken !== undefined || ends === 0;
    const end = isRenewed ? "renewed when it expires" : `which expires ${momentAhead(ends)}`;
    note(`Logged in to ${server} as ${plain(name)}, ${role} in space ${space}, ${end}`);
    note(`The login is in ${loginsPath()}; berth logout removes it`);
    if (findGivenToken() !== undefined) {
      note("Your environment has another token (see berth whoami --help), which counts more");
    }
    return undefined;
  },
};

function refused(server: string, state: string): CliError {
  const hint = "Ask an operator of the server, or use a token: see berth whoami --help";
  return new CliError(`Cannot log in to ${server}: ${state}`, hint, exitCodes.refused);
}

/** The server names the issuers and their clients. */
async function chooseIssuer({ flags }: Context, server: string): Promise<PersonClient> {
  const { issuer: wanted } = flags<Flags>();
  const offer: SignInOffer = await new BerthClient({ url: server }).signInOffer();
  if (!offer.authentication) {
    const message = `Cannot log in to ${server}: it has no authentication`;
    throw new CliError(message, "Use it without a login", exitCodes.refused);
  }
  const known = offer.issuers.flatMap(({ issuer, cli }) =>
    cli === null ? [] : { issuer, ...cli },
  );
  const [first, ...others] = known.filter(({ issuer }) => (wanted ?? issuer) === issuer);
  const names = known.map(({ issuer }) => issuer).join(", ");
  if (first === undefined) {
    throw refused(server, names === "" ? "it has no issuer for it" : `its issuers are ${names}`);
  }
  if (others.length === 0) return first;
  const message = `Cannot choose an issuer: the server has ${names}`;
  throw new CliError(message, "Name one with --issuer URL", exitCodes.usage);
}

async function signIn({ flags, note }: Context, client: PersonClient): Promise<PersonTokens> {
  const { SignInRefused } = await import("../../auth/sign-in/person-tokens.ts");
  const { describeTrouble, discover } = await import("../../auth/sign-in/provider.ts");
  const failed = (state: string, code: number) =>
    new CliError(`Cannot sign in at ${client.issuer}: ${plain(state)}`, "Try again", code);
  const signal = AbortSignal.timeout(signInMs);
  try {
    const metadata = await discover(client.issuer);
    const browser = flags<Flags>().device ? undefined : browserCommand();
    if (isByDevice(metadata, flags<Flags>().device ?? false, browser)) {
      const { signInByDevice } = await import("../../auth/sign-in/device-sign-in.ts");
      return await signInByDevice(metadata, client, (code) => note(deviceText(code)), signal);
    }
    const { signInByBrowser } = await import("../../auth/sign-in/loopback-sign-in.ts");
    const show = (url: string) => {
      note(`Sign in in your browser. If it does not open, visit on this machine:\n  ${url}`);
      if (browser !== undefined) openBrowser(browser, url);
    };
    return await signInByBrowser(metadata, client, show, signal);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof SignInRefused) throw failed(error.message, exitCodes.refused);
    if (signal.aborted) throw failed("nobody has signed in within ten minutes", exitCodes.refused);
    throw failed(describeTrouble(error), exitCodes.unreachable);
  }
}

function isByDevice(
  metadata: ServerMetadata,
  isWanted: boolean,
  browser: string | undefined,
): boolean {
  const isPossible = metadata.device_authorization_endpoint !== undefined;
  if (!isWanted || isPossible) return isWanted || (browser === undefined && isPossible);
  throw new CliError(
    `Cannot use --device: ${metadata.issuer} has no device flow`,
    "Run berth login without it, on a machine with a browser",
    exitCodes.usage,
  );
}

function deviceText({ url, wholeUrl, code }: DeviceCode): string {
  const whole = wholeUrl === undefined ? "" : `\nor visit ${plain(wholeUrl)}`;
  return `Visit ${plain(url)} in any browser and enter the code ${plain(code)}${whole}`;
}
