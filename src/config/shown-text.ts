/** Text of the file as messages show it: on one line, visible, and without passwords of addresses. */

/** Controls, and characters that are invisible, change the direction of text or break lines. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** What JSON leaves as it is is escaped too, so that a message cannot disguise itself on a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(unsafe, escaped);
}

/** The same for text that is shown without quotes. */
export function visible(text: string): string {
  return text.replace(unsafe, escaped);
}

function escaped(found: string): string {
  const inJson = JSON.stringify(found).slice(1, -1);
  if (inJson !== found) return inJson;
  return Array.from({ length: found.length }, (_, at) => {
    return `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** `https://user:password@host?token=x` as `https://…@host?token=…`. */
export function withoutPasswords(text: string): string {
  if (!text.includes("://")) return text;
  return text.replace(/:\/\/[^\s/@]*@/g, "://…@").replace(/([?&][^=&#\s]*=)[^&#\s]+/g, "$1…");
}

/** `a token`, `an issuer`. */
export function withArticle(noun: string): string {
  return `${/^(?:[aeio]|api )/i.test(noun) ? "an" : "a"} ${noun}`;
}
