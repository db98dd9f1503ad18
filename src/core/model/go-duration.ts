/**
 * Durations as Go programs write them: `1h30m`, `-1.5h`, `300ms`, `0`; no days. Boskos's
 * configuration and clients use these, and some clients compare the text of an error.
 */
export type GoDuration =
  | { readonly ok: true; readonly durationMs: number }
  | { readonly ok: false; readonly message: string };

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3, // The micro sign, and the Greek letter that looks like it.
  "\u03bcs": 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The maximum of 63 bits of nanoseconds: about 292 years. */
const durationMsMax = 2 ** 63 / 1e6;

const part = /(\d*)(\.?)(\d*)([^\d.]*)/y;

export function parseGoDuration(text: string): GoDuration {
  const [, sign, rest = ""] = /^([+-]?)(.*)$/su.exec(text) ?? [];
  if (rest === "0") return { ok: true, durationMs: 0 };
  const invalid = refused(`invalid duration ${quoted(text)}`);
  if (rest === "") return invalid;
  let totalMs = 0;
  part.lastIndex = 0;
  while (part.lastIndex < rest.length) {
    const [, whole = "", , fraction = "", unit = ""] = part.exec(rest) ?? [];
    if (whole === "" && fraction === "") return invalid;
    if (unit === "") return refused(`missing unit in duration ${quoted(text)}`);
    const oneMs = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
    if (oneMs === undefined) {
      return refused(`unknown unit ${quoted(unit)} in duration ${quoted(text)}`);
    }
    totalMs += Number(`${whole || 0}.${fraction || 0}`) * oneMs;
    if (totalMs >= durationMsMax) return invalid;
  }
  return { ok: true, durationMs: sign === "-" && totalMs > 0 ? -totalMs : totalMs };
}

function refused(message: string): GoDuration {
  return { ok: false, message: `time: ${message}` };
}

/** Escapes all characters except printable ASCII, as the bytes of their UTF-8. */
function quoted(text: string): string {
  let inside = "";
  for (const character of text) {
    if (character === '"' || character === "\\") inside += `\\${character}`;
    else if (character >= " " && character <= "\u007f") inside += character;
    else inside += utf8(character).map(escaped).join("");
  }
  return `"${inside}"`;
}

function escaped(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** Encodes UTF-8 without `TextEncoder`, which the core does not use. */
function utf8(character: string): number[] {
  const code = character.codePointAt(0) ?? 0;
  const tail = (shift: number) => 0x80 | ((code >> shift) & 0x3f);
  if (code < 0x80) return [code];
  if (code < 0x800) return [0xc0 | (code >> 6), tail(0)];
  if (code < 0x10000) return [0xe0 | (code >> 12), tail(6), tail(0)];
  return [0xf0 | (code >> 18), tail(12), tail(6), tail(0)];
}
