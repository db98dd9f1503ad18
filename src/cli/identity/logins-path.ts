import { homedir } from "node:os";
import { join } from "node:path";

/** Where `berth login` keeps the tokens of this user. */
export function loginsPath(): string {
  const state = process.env["XDG_STATE_HOME"];
  const folder = state?.startsWith("/") ? state : join(homedir(), ".local", "state");
  return join(folder, "berth", "logins.json");
}
