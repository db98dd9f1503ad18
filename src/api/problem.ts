/** A "no" fit for people: server, client and command line share it, so one message is read everywhere. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: string;
  readonly status: number;
  /** What to do now. */
  readonly hint: string;
  /** Facts beside the message, for programs: `nearest`, `errors`, `endedAt` and so on. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(parts: ProblemParts, cause?: unknown) {
    super(parts.message, { cause });
    this.code = parts.code;
    this.status = parts.status;
    this.hint = parts.hint;
    this.facts = parts.facts ?? {};
  }

  /** As RFC 9457 has it on the wire. */
  toJSON(): ProblemBody {
    const { code, status, message, hint, facts } = this;
    return {
      type: `${problemBase}${code}`,
      title: titleOf(code),
      status,
      detail: message,
      code,
      hint,
      ...facts,
    };
  }

  /** From a reply of a server; anything that is not a problem becomes one that says what it was. */
  static from(status: number, body: unknown): Problem {
    if (isProblemBody(body)) {
      const { type: _type, title: _title, status: said, detail, code, hint, ...facts } = body;
      return new Problem({ code, status: said, message: detail, hint, facts });
    }
    return new Problem({
      code: "unexpected_reply",
      status,
      message: `Cannot use the server's reply: status ${status} without a problem document`,
      hint: "Check that the address is that of a Berth server and that no proxy answers instead",
    });
  }
}

export interface ProblemParts {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly hint: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
  readonly [fact: string]: unknown;
}

/** Relative, so that it resolves on the server that sent it. */
const problemBase = "/docs/errors#";

/** `pool_not_found` as "Pool not found". */
function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function isProblemBody(body: unknown): body is ProblemBody {
  if (typeof body !== "object" || body === null) return false;
  const { code, detail, hint, status } = body as Record<string, unknown>;
  return (
    typeof code === "string" &&
    typeof detail === "string" &&
    typeof hint === "string" &&
    typeof status === "number"
  );
}
