import type { CliCommand } from "../cli-command.ts";
import { changeLogin, type Login } from "./login-store.ts";

export const logout: CliCommand = {
  help: `
Removes the tokens of berth login for this server, and ends them at the issuer if it can do that.`,
  async run({ client: { url }, note }) {
    let ended: Login | undefined;
    await changeLogin(url, async (present) => {
      ended = present;
      return undefined;
    });
    if (ended === undefined) {
      note(`You are not logged in to ${url}`);
      return undefined;
    }
    const isRevoked = await revokeAt(ended);
    note(`Logged out of ${url}`);
    if (!isRevoked) note(`${ended.issuer} could not be told; its refresh token ends there later`);
    return undefined;
  },
};

/** The tokens are gone from this machine in any case. */
async function revokeAt(login: Login): Promise<boolean> {
  if (login.refreshToken === undefined) return true;
  const { discover } = await import("../../auth/sign-in/provider.ts");
  const { revoke } = await import("../../auth/sign-in/person-tokens.ts");
  try {
    await revoke(await discover(login.issuer), login, login.refreshToken);
    return true;
  } catch {
    return false;
  }
}
