/** The token of `berth login` for one server, renewed before it expires. */
import { discover, isOutage } from "../../auth/sign-in/provider.ts";
import { BerthUnreachable } from "../../client/errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { changeLogin, type Login, readLogins } from "./login-store.ts";
import { expiryOf } from "./token-expiry.ts";

/** A token that expires sooner is replaced before it is sent. */
const spareMs = 60_000;

/** Returns undefined if nobody has logged in to the server. */
export async function storedToken(server: string): Promise<string | undefined> {
  const { [server]: login } = await readLogins();
  if (login === undefined) return undefined;
  if (!isOld(login)) return login.idToken;
  const renewed = login.refreshToken === undefined ? login : await renewLogin(server);
  if (renewed !== undefined && expiryOf(renewed.idToken) > Date.now()) return renewed.idToken;
  throw new CliError(
    `Cannot use your login at ${server}: it has expired`,
    `Run berth login again, or berth logout to do without it`,
    exitCodes.refused,
  );
}

function isOld({ idToken }: Login): boolean {
  return expiryOf(idToken) - spareMs <= Date.now();
}

/** One command renews it, and others that run at the same time use the result. */
async function renewLogin(server: string): Promise<Login | undefined> {
  return changeLogin(server, async (present) => {
    if (present?.refreshToken === undefined || !isOld(present)) return present;
    const { renew } = await import("../../auth/sign-in/person-tokens.ts");
    try {
      const tokens = await renew(await discover(present.issuer), present, present.refreshToken);
      return tokens === undefined ? present : { ...present, ...tokens };
    } catch (error) {
      if (expiryOf(present.idToken) > Date.now()) return present;
      if (!isOutage(error)) throw error;
      throw new BerthUnreachable(
        present.issuer,
        "it renews your login, and does not answer",
        error,
      );
    }
  });
}
