import { LiveLine } from "../terminal/live-line.ts";
import type { Screen } from "../terminal/screen.ts";
import { WaitingLog } from "./waiting-log.ts";
import type { WaitingDisplay } from "./waiting-text.ts";

/** Returns a live line for a terminal, or log lines for a build log. */
export function waitingDisplay(stderr: NodeJS.WriteStream, screen: Screen): WaitingDisplay {
  const write = (text: string) => void stderr.write(text);
  return screen.width() === undefined ? new WaitingLog(write) : new LiveLine(write, screen);
}
