import { isUtf8 } from "node:buffer";
import { Problem } from "../api/problem.ts";
import type { App } from "./context.ts";

/**
 * JSON, and an empty body as none: clients send the content type with a heartbeat that has no body.
 * The parser's own message quotes the text around the mistake, which may be a secret, so only the
 * position is passed on.
 */
export function acceptJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    const bytes = body as Buffer;
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(notJson("not UTF-8"));
    try {
      done(null, JSON.parse(bytes.toString()));
    } catch (cause) {
      done(notJson(cause));
    }
  });
}

function notJson(cause: unknown): Problem {
  const position = /position (\d+)/.exec(String(cause))?.[1];
  const where = position === undefined ? "" : ` at position ${position}`;
  return new Problem({
    code: "invalid_json",
    status: 400,
    message: `Cannot read the body: it is not JSON${where}`,
    hint: "Send one JSON object in UTF-8",
  });
}
