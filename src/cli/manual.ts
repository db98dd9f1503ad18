/** The manual page, from the same definitions as `--help`, so that it cannot say anything else. */
import type { Argument, Command, Option } from "commander";
import type { CommandEntry } from "./commands.ts";
import { exitCodeLines } from "./exit-codes.ts";

const groups: readonly CommandEntry["group"][] = ["For jobs", "Inspect", "For operators", "Other"];

/** Renders the whole program as troff, for `man`. */
export function manualPage(program: Command, version: string): string {
  const own = new Set(program.options.map(({ long }) => long));
  const lines = [
    `.TH BERTH 1 "" "berth ${plain(version)}" "Berth"`,
    ...section("NAME", [plain(`berth - ${lowerFirst(program.description())}`)]),
    ...section("SYNOPSIS", [".B berth", plain("COMMAND [options]")]),
    ...section("OPTIONS OF EVERY COMMAND", program.options.flatMap(optionLines)),
    ...groups.flatMap((group) => [
      ...section(`COMMANDS: ${group.toUpperCase()}`, []),
      ...program.commands
        .filter((each) => each.helpGroup() === `${group}:`)
        .flatMap((each) => commandLines(each, own)),
    ]),
    ...section("ENVIRONMENT", environmentOf(program).flatMap(environmentLines)),
    ...section(
      "EXIT STATUS",
      exitCodeLines.flatMap(([code, text]) => tagged(code, text)),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH "${plain(title)}"`, ...lines];
}

/** A command, and those below it, such as `config check`. */
function commandLines(command: Command, own: ReadonlySet<string | undefined>): string[] {
  const name = fullName(command);
  const options = command.options.filter(({ long }) => !own.has(long));
  const usage = [
    ...(options.length > 0 ? ["[options]"] : []),
    ...command.registeredArguments.map(argumentName),
  ];
  return [
    `.SS "${plain(name)}"`,
    plain(`${command.description()}.`),
    ...(command.commands.length > 0
      ? []
      : [".P", `.B ${plain(name)}`, ...(usage.length > 0 ? [plain(usage.join(" "))] : [])]),
    ...command.registeredArguments.flatMap((each) => tagged(argumentName(each), each.description)),
    ...options.flatMap(optionLines),
    ...verbatim(helpAfter(command)),
    ...command.commands.flatMap((each) => commandLines(each, own)),
  ];
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function argumentName(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function optionLines({ flags, description, defaultValue }: Option): string[] {
  const isSwitch = typeof defaultValue === "boolean" || defaultValue === undefined;
  return tagged(flags, isSwitch ? description : `${description} (default ${defaultValue})`);
}

function tagged(term: string, text: string): string[] {
  return [".TP", `.B ${plain(term)}`, plain(text)];
}

/** What `--help` prints below the options. */
function helpAfter(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

function verbatim(text: string): string[] {
  return text === "" ? [] : [".P", ".nf", ...text.split("\n").map(plain), ".fi"];
}

/** Variables that the descriptions of options name, each with the option and its command. */
function environmentOf(program: Command): [string, string[]][] {
  const found = new Map<string, Set<string>>();
  const visit = (command: Command): void => {
    for (const { long, description } of command.options) {
      for (const [, name = ""] of description.matchAll(/\$([A-Z][A-Z_]+)/g)) {
        const uses = found.get(name) ?? new Set();
        const isOwn = program.options.some((option) => option.long === long);
        found.set(name, uses.add(isOwn ? `${long}` : `${fullName(command)} ${long}`));
      }
    }
    command.commands.forEach(visit);
  };
  visit(program);
  return [...found].sort().map(([name, uses]) => [name, [...uses]]);
}

function environmentLines([name, uses]: [string, string[]]): string[] {
  return tagged(name, `the same as ${uses.join(", ")}`);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Text that troff prints as it is: no escapes, no requests, and hyphens that can be copied. */
function plain(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
