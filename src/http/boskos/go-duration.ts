/** Durations as Go writes them: `1h30m`, `1.5h`, `-5m`, `0`. There are no days. */
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The duration in milliseconds, or Go's words for what is wrong with it. */
export function parseGoDuration(text: string): number | { readonly error: string } {
  const invalid = { error: `time: invalid duration ${goQuote(text)}` };
  const [, sign = "", rest = ""] = /^([+-]?)([\s\S]*)$/.exec(text) ?? [];
  if (rest === "0") return 0;
  if (rest === "") return invalid;
  let sumMs = 0;
  for (let left = rest; left !== ""; ) {
    const [part = "", digits = "", unit = ""] = /^((?:\d+\.?\d*|\.\d+))([^\d.]*)/.exec(left) ?? [];
    if (part === "") return invalid;
    if (unit === "") return { error: `time: missing unit in duration ${goQuote(text)}` };
    const each = unitMs[unit];
    if (each === undefined) {
      return { error: `time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}` };
    }
    sumMs += Number(digits) * each;
    left = left.slice(part.length);
  }
  // What Go keeps in 64 bits of nanoseconds.
  if (sumMs > 2 ** 63 / 1e6) return invalid;
  return sign === "-" ? -sumMs : sumMs;
}

const named: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

/** Text in quotes with Go's escapes. */
export function goQuote(text: string): string {
  let quoted = "";
  for (const character of text) quoted += named[character] ?? escaped(character);
  return `"${quoted}"`;
}

function escaped(character: string): string {
  if (!/[\p{C}\p{Zl}\p{Zp}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
