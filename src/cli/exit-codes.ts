/** Codes of berth's own failures. They start at 64, so that they differ from most commands' codes. */
export const exitCodes = {
  ok: 0,
  bug: 1,
  usage: 64,
  badInput: 65,
  notFound: 66,
  unreachable: 69,
  notGranted: 75,
  leaseLost: 76,
  refused: 77,
  badConfiguration: 78,
  unfinished: 79,
  notExecutable: 126,
  commandNotFound: 127,
} as const;

/** The compiler requires a line for every code, so that the help text is complete. */
const meanings: Readonly<Record<Exclude<keyof typeof exitCodes, "ok">, string>> = {
  bug: "a bug in berth",
  usage: "wrong usage: an option, an argument or an environment variable",
  badInput: "an input file or a backup is damaged or cannot be parsed; nothing was changed",
  notFound: "not found: no such pool, lease, request, resource, backup or file",
  unreachable: "the server, its database or its data folder is unreachable, or in use by another",
  notGranted: "not granted within --timeout",
  leaseLost: "the lease was lost; CMD was stopped, or never started",
  refused: "the server refused",
  badConfiguration: "bad configuration",
  unfinished: "slots cleanup: clusters without a slot are left",
  notExecutable: "CMD is not executable",
  commandNotFound: "CMD was not found",
};

const meaningByName: Readonly<Record<string, string>> = meanings;
const codeWidth = 13;

/** Every code with its meaning, in the order in which people read them. */
export const exitCodeLines: readonly (readonly [code: string, meaning: string])[] = [
  ["CMD's own", "CMD has exited; 128+N if signal N killed it"],
  ...Object.entries(exitCodes).flatMap(([name, code]): [string, string][] => {
    const meaning = meaningByName[name];
    return meaning === undefined ? [] : [[String(code), meaning]];
  }),
  ["130, 143", "interrupted by Ctrl-C, by TERM, while waiting (128+N)"],
];

export const exitCodeHelp = [
  "",
  "Exit codes:",
  ...exitCodeLines.map(([code, meaning]) => `  ${code.padEnd(codeWidth)}${meaning}`),
].join("\n");
