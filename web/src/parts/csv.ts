/** Tables as files for spreadsheets. */

/**
 * RFC 4180. Holders choose their names, and a spreadsheet would run a cell that begins like a formula,
 * so such a cell gets an apostrophe.
 */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return `${rows.map((row) => row.map(cellOf).join(",")).join("\r\n")}\r\n`;
}

function cellOf(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Saves the text as a file of the browser. */
export function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}
