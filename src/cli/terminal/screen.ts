import type { WriteStream } from "node:tty";

/** What the streams of this process can show, found once and passed on. */
export interface Screen {
  readonly colour: boolean;
  /** The terminal behind stdout; undefined if it goes to a file or a pipe. */
  readonly width: () => number | undefined;
  readonly height: () => number | undefined;
  readonly unicode: boolean;
}

export function screenOf(
  stream: WriteStream | NodeJS.WriteStream,
  wantsColour: boolean,
  env: NodeJS.ProcessEnv,
): Screen {
  const terminal = stream.isTTY === true;
  const noColour = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "";
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  return {
    colour: terminal && wantsColour && !noColour && env["TERM"] !== "dumb",
    width: () => (terminal ? stream.columns || widthOtherwise : undefined),
    height: () => (terminal ? stream.rows || heightOtherwise : undefined),
    unicode: !terminal || /utf-?8/i.test(locale),
  };
}

/** Terminals that do not tell their size get that of a VT100. */
const widthOtherwise = 80;
const heightOtherwise = 24;

const codes = { red: 31, green: 32, yellow: 33, blue: 34, dim: 2, bold: 1 } as const;

export function paint(screen: Screen, colour: keyof typeof codes, text: string): string {
  return screen.colour ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}
