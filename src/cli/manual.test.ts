import { Command, Option } from "commander";
import { expect, test } from "vitest";
import { manualPage } from "./manual.ts";
import { wholeProgram } from "./program.ts";

function aProgram(): Command {
  const program = new Command("berth").description("Lends what is scarce");
  program.addOption(new Option("--server <url>", "where it is ($BERTH_URL)"));
  program
    .command("run")
    .helpGroup("For jobs:")
    .description("Run a command")
    .argument("[cmd...]", "the command")
    .addOption(new Option("--name <name>", 'a "name" with a \\ ($BERTH_NAME)').default("x"))
    .addOption(new Option("--server <url>", "where it is ($BERTH_URL)"))
    .addHelpText("after", "\nExample:\n.berth is no request\n  two  blanks stay");
  return program;
}

test("manualPage() writes text that troff prints as it is", () => {
  const page = manualPage(aProgram(), "1.2.3").split("\n");
  expect(page[0]).toBe('.TH BERTH 1 "" "berth 1.2.3" "Berth"');
  expect(page).toContain("a \\(dqname\\(dq with a \\e ($BERTH_NAME) (default x)");
  expect(page).toContain("\\&.berth is no request");
  expect(page).toContain("  two  blanks stay");
  expect(page).toContain(".B \\-\\-name <name>");
});

test("manualPage() has the options of every command once, and each variable with its option", () => {
  const page = manualPage(aProgram(), "1.2.3");
  expect(page.match(/^\.B \\-\\-server/gm)).toHaveLength(1);
  expect(page).toContain(".B BERTH_NAME\nthe same as berth run \\-\\-name");
  expect(page).toContain(".B BERTH_URL\nthe same as \\-\\-server");
});

test("manualPage() has every command of berth and every one of its options", async () => {
  const program = await wholeProgram();
  const page = manualPage(program, "1.2.3").replaceAll("\\-", "-");
  const visit = (command: Command, name: string): void => {
    expect(page).toContain(`.SS "${name}"`);
    for (const { flags } of command.options) expect(page).toContain(`.B ${flags}\n`);
    for (const each of command.commands) visit(each, `${name} ${each.name()}`);
  };
  for (const each of program.commands) visit(each, `berth ${each.name()}`);
  expect(program.commands.length).toBeGreaterThan(40);
  expect(page).toContain('.SS "berth config check"');
});
