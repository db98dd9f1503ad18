import type { WriteStream } from "node:tty";

/** What a stream of this process can show. */
export interface Screen {
  readonly colour: boolean;
  /** Columns of the terminal; undefined if the stream is a file or a pipe. */
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

/** Whether `--no-color` is absent. Arguments after `--` belong to the user's command. */
export function wantsColour(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return !argv.slice(0, end < 0 ? undefined : end).includes("--no-color");
}

/** The size of a VT100, for terminals that do not report their size. */
const widthOtherwise = 80;
const heightOtherwise = 24;

const codes = { red: 31, green: 32, yellow: 33, blue: 34, dim: 2, bold: 1 } as const;

export function paint(screen: Screen, colour: keyof typeof codes, text: string): string {
  return screen.colour ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}
