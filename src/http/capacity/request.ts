/**
 * A request of the early capacity API as its server read it: keys in any case, the last of equal ones,
 * what is unknown or comes after the first value ignored; text or fractions for a number refused.
 */
export interface CapacityRequest {
  readonly vcpus: number;
  readonly memory: number;
  readonly storage: number;
  readonly vcenters: number;
  /** Undefined: one where there are any. */
  readonly networks: number | undefined;
  readonly boskosLeaseId: string;
  readonly requiredPool: string | undefined;
}

export class BadRequest extends Error {
  override readonly name = "BadRequest";
}

export function readRequest(body: string): CapacityRequest {
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(firstObject(body)))
    fields.set(key.toLowerCase(), value);
  const number = (key: string): number | undefined => {
    const value = fields.get(key) ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isSafeInteger(value)) {
      throw new BadRequest(`cannot read ${key}: it is not a whole number`);
    }
    if (value < 0) throw new BadRequest(`cannot read ${key}: it is less than 0`);
    return value;
  };
  const text = (key: string): string => {
    const value = fields.get(key) ?? "";
    if (typeof value !== "string") throw new BadRequest(`cannot read ${key}: it is not text`);
    return value;
  };
  const requiredPool = text("required-pool");
  return {
    vcpus: number("vcpus") ?? 0,
    memory: number("memory") ?? 0,
    storage: number("storage") ?? 0,
    vcenters: number("vcenters") ?? 0,
    networks: number("networks"),
    boskosLeaseId: text("boskos-lease-id"),
    requiredPool: requiredPool === "" ? undefined : requiredPool,
  };
}

/** The first JSON value, which must be an object; whatever follows it is ignored. */
function firstObject(body: string): Record<string, unknown> {
  const value = parseFirst(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadRequest("cannot read the body: it is not a JSON object");
  }
  return { ...value };
}

/** The first JSON value of a text. Undefined, null or nonsense: `BadRequest`. */
export function parseFirst(body: string): unknown {
  try {
    return JSON.parse(body.slice(0, endOfFirst(body)));
  } catch {
    throw new BadRequest("cannot read the body: it is not JSON");
  }
}

/** Where the first object or array ends; for anything else the whole text is it. */
function endOfFirst(body: string): number {
  let [depth, inText] = [0, false];
  for (let at = 0; at < body.length; at++) {
    const character = body[at];
    if (inText) {
      if (character === "\\") at += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return body.length;
}
