import { spawn } from "node:child_process";

/** The program that shows a page to the user; undefined if this user has no browser here. */
export function browserCommand(env = process.env, platform = process.platform): string | undefined {
  if (env["BROWSER"]) return env["BROWSER"];
  if (platform === "darwin") return "open";
  const hasScreen = (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "";
  // Over ssh the screen is another machine's, and its browser cannot reach a port of this one.
  return hasScreen && !env["SSH_CONNECTION"] ? "xdg-open" : undefined;
}

/** Does nothing if it cannot be started: the address is printed as well. */
export function openBrowser(command: string, url: string): void {
  const child = spawn(command, [url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
