import { Option } from "commander";
import { usageError } from "./failure.ts";
import { oneOf, type Parse, readValue, serverUrl } from "./values.ts";

/** An option whose value is checked while the command line is parsed. */
export function flag<T>(flags: string, description: string, parse?: Parse<T>): Option {
  const option = new Option(flags, description);
  const name = option.long ?? flags;
  return parse === undefined ? option : option.argParser((text) => readValue(name, text, parse));
}

const asTyped: Parse<string> = (text) => text;

/**
 * An option that selects something and accepts one value. Commander would use the last value and
 * ignore the others, so that the command acts on less than the user typed.
 */
export function onceFlag<T = string>(
  flags: string,
  description: string,
  parse: Parse<T | string> = asTyped,
): Option {
  const option = new Option(flags, description);
  const name = option.long ?? flags;
  return option.argParser((text: string, earlier: T | string | undefined) => {
    if (earlier === undefined) return readValue(name, text, parse);
    throw usageError(`Cannot use ${name} twice: it accepts one value`, `Pass ${name} once`);
  });
}

/** An option that may be given several times. */
export function repeatedFlag<T>(flags: string, description: string, parse: Parse<T>): Option {
  const option = new Option(flags, description);
  const name = option.long ?? flags;
  return option.argParser((text: string, earlier: readonly T[] | undefined) => {
    return [...(earlier ?? []), readValue(name, text, parse)];
  });
}

/** The global options that commands read themselves. */
export interface GlobalFlags {
  readonly tokenFile?: string;
}

/** The options of every command, before or after the command's name. */
export function globalFlags(): readonly Option[] {
  return [
    flag("--server <url>", "the server's address ($BERTH_URL, else 127.0.0.1:8080)", serverUrl),
    flag("--token-file <file>", "file with your token ($BERTH_TOKEN_FILE, or $BERTH_TOKEN itself)"),
    flag("--ca-file <file>", "also trust servers of these authorities ($BERTH_CA_FILE)"),
    flag("--no-color", "disable colours; also with NO_COLOR, or if the output is not a terminal"),
  ];
}

export const listFormats = ["table", "wide", "json", "yaml", "name"] as const;
export type ListFormat = (typeof listFormats)[number];

export function outputFlag<Format extends string>(...formats: readonly Format[]): Option {
  const choice = oneOf<Format>(...formats);
  return flag("-o, --output <format>", `one of ${formats.join(", ")}`, choice).default(formats[0]);
}
