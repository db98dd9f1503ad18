/** Text for terminals: removes control characters from foreign text, and measures in columns. */

/**
 * Controls of C0 and C1, characters that are invisible or change the direction of text, line
 * separators, half a surrogate pair, and the two that are no characters.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu;

/**
 * Replaces control characters. Any user can set names, holders and notes. An escape sequence in them
 * could move the cursor, hide a line or set the clipboard of the user who lists leases.
 */
export function plain(text: string): string {
  return text.replace(unsafe, (found) => (/\s/.test(found) ? " " : "\ufffd"));
}

export function hasUnsafe(text: string): boolean {
  return text.search(unsafe) >= 0;
}

/** JSON whose texts can be printed: what `plain` replaces is escaped, so no character is lost. */
export function printableJson(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, undefined, indent), (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at), 4)}`).join(""),
  );
}

/** The same for text in double quotes in YAML, which has another form for high code points. */
export function escapeForYaml(text: string): string {
  return escapeUnsafe(text, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
  });
}

/** Line breaks stay: they are part of the format, and within texts they are escaped already. */
function escapeUnsafe(text: string, escapeOne: (found: string) => string): string {
  return text.replace(unsafe, (found) => (found === "\n" ? found : escapeOne(found)));
}

function hex(code: number, length: number): string {
  return code.toString(16).padStart(length, "0");
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u;
const zero = /\p{Mn}|\p{Me}/u;

/** The number of terminal columns that the text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (character < "\u0300") return 1;
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Cuts the text to this many columns, with an ellipsis at the end. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let used = 1; // For the ellipsis.
  for (const character of text) {
    used += characterWidth(character);
    if (used > width) break;
    kept += character;
  }
  return width < 1 ? "" : `${kept}…`;
}

export function padTo(text: string, width: number, align: "left" | "right" = "left"): string {
  const gap = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + gap : gap + text;
}

/** Quotes text for `eval` in any POSIX shell. */
export function shellQuoted(text: string): string {
  if (/^[A-Za-z0-9_./:@%+,-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** `1 pool`, `2 pools`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
