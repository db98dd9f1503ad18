import type { Option } from "commander";
import type { BerthClient } from "../client/berth-client.ts";
import type { Screen } from "./terminal/screen.ts";

/** What a command is given to do its work with. */
export interface Context {
  readonly args: readonly string[];
  /** As declared by the command's options; the type is the command's own word for them. */
  flags<Flags extends object>(): Flags;
  readonly client: BerthClient;
  readonly screen: Screen;
  /** Results, to stdout. */
  print(text: string): void;
  /** All else, to stderr. */
  note(text: string): void;
}

/** One command: what it takes, as data, and what it does. */
export interface CliCommand {
  /** Such as `[lease]` or `<resource...>`, each with what it is. */
  readonly args?: readonly (readonly [name: string, description: string])[];
  readonly options?: readonly Option[];
  /** Printed below the options. */
  readonly help?: string;
  /** Everything behind the first argument belongs to the command that is run. */
  readonly passThrough?: boolean;
  /** Commands below this one, such as `check` of `config check`. */
  readonly subcommands?: Readonly<Record<string, { summary: string; command: CliCommand }>>;
  /** What Tab offers for an argument. */
  readonly completes?: (context: Context) => Promise<readonly string[]>;
  /** The exit code; 0 unless it says otherwise. Errors are told by the caller. */
  readonly run?: (context: Context) => Promise<number | undefined>;
}
