import type { Command, CommanderError } from "commander";
import { nearest } from "../core/model/nearest.ts";
import { type CliError, usageError } from "./failure.ts";

/** Turns commander's error into a usage error with our wording. Help and version stay as they are. */
export function toUsageError(
  error: CommanderError,
  program: Command,
  argv: readonly string[],
): CliError | CommanderError {
  if (error.exitCode === 0) return error;
  const command = commandBeingParsed(program, argv);
  const name = fullName(command);
  const help = `See ${name} --help`;
  const [, quoted = ""] = /'([^']*)'/.exec(error.message) ?? [];
  switch (error.code) {
    case "commander.help":
      return error;
    case "commander.unknownCommand": {
      const meant = nearest(quoted, subcommandNames(command));
      const state = `${name} has no such command`;
      return usageError(`Cannot run "${quoted}": ${state}`, didYouMean(meant, help));
    }
    case "commander.unknownOption": {
      const flags = command.options.flatMap(({ long }) => long ?? []);
      const meant = nearest(quoted, [...flags, "--help"]);
      return usageError(
        `Cannot use ${quoted}: ${name} has no such option`,
        didYouMean(meant, help),
      );
    }
    case "commander.optionMissingArgument":
      return usageError(`Cannot use ${quoted}: its value is missing`, help);
    case "commander.missingArgument":
      return usageError(`Cannot run ${name}: <${quoted}> is missing`, help);
    case "commander.excessArguments":
      return excessArgument(command, help);
    default:
      return usageError(`Cannot run ${name}: ${error.message.replace(/^error: /, "")}`, help);
  }
}

/** Users often pass the pool as an argument, so the hint names `--pool` where there is one. */
function excessArgument(command: Command, help: string): CliError {
  const argument = command.args[command.registeredArguments.length] ?? "";
  const hasPool = command.options.some(({ long }) => long === "--pool");
  return usageError(
    `Cannot run ${fullName(command)}: the argument "${argument}" is not allowed`,
    hasPool ? `Did you mean --pool ${argument}? ${help}` : help,
  );
}

function didYouMean(meant: string | undefined, otherwise: string): string {
  return meant === undefined ? otherwise : `Did you mean ${meant}? ${otherwise}`;
}

function subcommandNames(command: Command): string[] {
  return command.commands.map((each) => each.name()).filter((name) => !name.startsWith("_"));
}

/** The innermost command that the arguments name. */
function commandBeingParsed(program: Command, argv: readonly string[]): Command {
  let command = program;
  for (const word of argv) {
    const found = command.commands.find((each) => each.name() === word);
    if (found !== undefined) command = found;
  }
  return command;
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
