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
  // To Go no space but the plain one can be printed.
  if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
