/** Text for terminals: removes control characters from foreign text, and measures in columns. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Replaces control characters. Any user can set names, holders and notes. An escape sequence in them
 * could move the cursor, hide a line or set the clipboard of the user who lists leases.
 */
export function plain(text: string): string {
  return text.replace(unsafe, (found) => (/\s/.test(found) ? " " : "\ufffd"));
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
