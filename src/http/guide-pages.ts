import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { App } from "./context.ts";
import { pagePolicy, withPageHeaders } from "./page-headers.ts";

/** The documents to which the server and its alerts link. */
const guides = {
  /** The `type` URL of every problem points to a row of it. */
  "/docs/errors": "docs/errors.md",
  /** The `runbook_url` of every alert points to a section of it. */
  "/docs/runbook": "docs/guides/runbook.md",
};

/** Serves them as HTML. */
export async function guidePages(app: App): Promise<void> {
  for (const [path, file] of Object.entries(guides)) {
    // The same relative path works from `src/http` and from `dist/http`.
    const page = toHtml(await readFile(new URL(`../../${file}`, import.meta.url), "utf8"));
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      withPageHeaders(reply, policy).type("text/html; charset=utf-8").send(page),
    );
  }
}

/** Converts headings, paragraphs, numbered lists and tables. The documents have nothing else. */
export function toHtml(markdown: string): string {
  const blocks = markdown.trim().split(/\n{2,}/);
  const title = inline(blocks[0]?.replace(/^# /, "") ?? "Errors");
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Berth: ${title}</title>
<meta name="viewport" content="width=device-width">
<style>${style}</style><body>${blocks.map(block).join("\n")}</body></html>`;
}

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8884 }
  tr:target, h3:target { background: #fc04 }
  code { font: .9em ui-monospace, monospace }`;

/** The page has one style and no script; the hash allows this style and no other. */
const policy = pagePolicy(
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
);

function block(text: string): string {
  const [, marks = "", words = ""] = /^(#{1,3}) (.+)$/.exec(text) ?? [];
  if (words !== "") {
    const level = marks.length;
    return `<h${level} id="${anchorOf(words)}">${inline(words)}</h${level}>`;
  }
  if (text.startsWith("1. ")) return list(text);
  return text.startsWith("|") ? table(text) : `<p>${inline(text)}</p>`;
}

/** As the sites that show Markdown make it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

function list(text: string): string {
  const steps = text.split(/^\d+\. /m).slice(1);
  return `<ol>${steps.map((step) => `<li>${inline(step.trim())}</li>`).join("")}</ol>`;
}

function table(text: string): string {
  const [head = "", , ...rows] = text.split("\n");
  const cells = (row: string) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => inline(cell.trim()));
  const header = cells(head)
    .map((cell) => `<th>${cell}</th>`)
    .join("");
  const body = rows.map((row) => {
    const code = /`([a-z_]+)`/.exec(row)?.[1] ?? "";
    return `<tr id="${code}">${cells(row)
      .map((cell) => `<td>${cell}</td>`)
      .join("")}</tr>`;
  });
  return `<table><thead><tr>${header}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}

function inline(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return (
    escaped
      .replace(/`([^`]+)`/g, "<code>$1</code>")
      .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
      .replace(/(?<![*\w])\*([^*\s][^*]*)\*(?![*\w])/g, "<em>$1</em>")
      .replace(/\[([^\]]+)\]\((#[\w-]+)\)/g, '<a href="$2">$1</a>')
      // The server does not have the other documents, so it says where they are in the package.
      .replace(/\[([^\]]+)\]\(([\w-]+\.md)[^)]*\)/g, "$1 (<code>docs/guides/$2</code>)")
      .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
  );
}
