import type { Option } from "commander";
import type { BerthClient } from "../client/berth-client.ts";
import type { Screen } from "./terminal/screen.ts";

/** The inputs and outputs of a command. */
export interface Context {
  readonly args: readonly string[];
  /** The parsed flags. Each command asserts the type that its options declare. */
  flags<Flags extends object>(): Flags;
  readonly client: BerthClient;
  readonly screen: Screen;
  /** Prints results to stdout. */
  print(text: string): void;
  /** Prints everything else to stderr. */
  note(text: string): void;
}

/** One command: its arguments and flags as data, and its behaviour. */
export interface CliCommand {
  /** Arguments such as `[lease]` or `<resource...>`, each with a description. */
  readonly args?: readonly (readonly [name: string, description: string])[];
  readonly options?: readonly Option[];
  /** Printed below the options. */
  readonly help?: string;
  /** Everything after the first argument belongs to the user's command. */
  readonly passThrough?: boolean;
  /** Subcommands, such as `check` of `config check`. */
  readonly subcommands?: Readonly<Record<string, { summary: string; command: CliCommand }>>;
  /** The candidates of shell completion for an argument. */
  readonly completes?: (context: Context) => Promise<readonly string[]>;
  /** Returns the exit code; undefined is 0. The caller prints errors. */
  readonly run?: (context: Context) => Promise<number | undefined>;
}
