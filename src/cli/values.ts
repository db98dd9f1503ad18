/** Parsers for values of flags and variables. They run before anything is sent. */
import { limits } from "../api/limits.ts";
import { hostnameOfHeader } from "../api/loopback.ts";
import { parseServerUrl } from "../client/transport.ts";
import { formatDuration, parseDuration } from "../core/model/time.ts";
import { usageError } from "./failure.ts";

/** The message says why a value is invalid, the hint how to write it. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
  readonly hint: string;
  /** Error messages must not contain the value. */
  readonly secret: boolean;

  constructor(state: string, hint: string, secret = false) {
    super(state);
    this.hint = hint;
    this.secret = secret;
  }
}

export type Parse<T> = (text: string) => T;

/** `name` is the flag or the variable that has the value. */
export function readValue<T>(name: string, text: string, parse: Parse<T>): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const what = error.secret ? name : `${name} ${JSON.stringify(text)}`;
    throw usageError(`Cannot use ${what}: ${error.message}`, error.hint);
  }
}

/** An empty variable counts as unset, as usual in shells. */
export function fromEnvironment<T>(name: string, parse: Parse<T>): T | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : readValue(name, text, parse);
}

export function duration(bounds: { minMs?: number; maxMs?: number } = {}): Parse<number> {
  const { minMs = 0, maxMs = Number.POSITIVE_INFINITY } = bounds;
  return (text) => {
    const durationMs = parseDuration(text);
    if (durationMs === undefined) {
      throw new InvalidValue("it is not a duration", "Write it like 90s, 20m, 1h30m or 2d");
    }
    if (durationMs < minMs) {
      throw new InvalidValue("it is too short", `Use ${formatDuration(minMs)} or more`);
    }
    if (durationMs > maxMs) {
      throw new InvalidValue("it is too long", `Use ${formatDuration(maxMs)} or less`);
    }
    return durationMs;
  };
}

export const ttl = duration({ minMs: limits.ttlMsMin, maxMs: limits.ttlMsMax });
export const lifetime = duration({ minMs: limits.lifetimeMsMin, maxMs: limits.lifetimeMsMax });

const byteUnits: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };

/** A size in bytes, such as `500MB` or `4GB`. */
export function byteSize(minBytes: number): Parse<number> {
  return (text) => {
    const [, amount, unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)(MB|GB|TB)$/.exec(text) ?? [];
    const bytes = Math.round(Number(amount) * (byteUnits[unit] ?? Number.NaN));
    if (!Number.isSafeInteger(bytes)) {
      throw new InvalidValue("it is not a size", "Write it like 500MB or 4GB");
    }
    if (bytes >= minBytes) return bytes;
    throw new InvalidValue("it is too small", `Use ${minBytes / 1e6}MB or more`);
  };
}

export function wholeNumber(min: number, max: number): Parse<number> {
  return (text) => {
    const number = Number(text);
    if (/^[+-]?\d+$/.test(text) && number >= min && number <= max) return number;
    const state = `it is not a whole number from ${min} to ${max}`;
    throw new InvalidValue(state, `Use one from ${min} to ${max}`);
  };
}

/** A number, or the name of a priority in the configuration of the server. */
export const priority: Parse<number | string> = (text) => {
  if (/^[A-Za-z][A-Za-z0-9._-]{0,62}$/.test(text)) return text;
  return wholeNumber(-limits.priorityMax, limits.priorityMax)(text);
};

export function oneOf<Choice extends string>(...choices: readonly Choice[]): Parse<Choice> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    throw new InvalidValue("it is not a valid choice", `Use ${choices.join(", ")}`);
  };
}

/** Accepts text that matches the pattern; `form` describes the pattern in the hint. */
export function matching(pattern: RegExp, lengthMax: number, form: string): Parse<string> {
  return (text) => {
    if (text.length > lengthMax) {
      throw new InvalidValue(`it is longer than ${lengthMax} characters`, "Use a shorter one");
    }
    if (!pattern.test(text)) throw new InvalidValue("its form is wrong", `Use ${form}`);
    return text;
  };
}

export const holder = matching(/\S/, limits.holderLengthMax, "the name of a holder");
export const requestId = matching(
  /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/,
  limits.requestIdLengthMax,
  "letters, digits and ._:/- after a letter or digit",
);
export const stateName = matching(
  /^[A-Za-z][A-Za-z0-9_.-]*$/,
  limits.stateLengthMax,
  "a state such as free or dirty",
);

/** A name without a port: the port does not matter to who may call the server. */
export const hostName: Parse<string> = (text) => {
  const name = hostnameOfHeader(text);
  if (name !== undefined && !/:\d+$/.test(text)) return name;
  throw new InvalidValue(
    "it is not a host name",
    "Write it like berth.example.org, without a port",
  );
};

/** The address of a server without a path: `https://berth.example.org`. */
export const origin: Parse<string> = (text) => {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isPlain) return url.origin;
  throw new InvalidValue(
    "it is not an address without a path",
    "Write it like https://berth.example.org",
  );
};

export const serverUrl: Parse<string> = (text) => {
  try {
    return parseServerUrl(text);
  } catch {
    const secret = URL.canParse(text) && new URL(text).username !== "";
    const state = secret ? "it contains a user name or password" : "it is not an http(s) address";
    throw new InvalidValue(state, "Write it like http://127.0.0.1:8080", secret);
  }
};

const tokenPattern = /^[A-Za-z0-9._~+/=-]+$/;

export const token: Parse<string> = (text) => {
  const trimmed = text.trim();
  if (tokenPattern.test(trimmed)) return trimmed;
  throw new InvalidValue("it is not a token", "Use the token that came with the lease", true);
};

/** The caller's own token. Shells and editors often add blanks and a newline at its end. */
export const ownToken: Parse<string> = (text) => {
  const trimmed = text.trim();
  if (tokenPattern.test(trimmed)) return trimmed;
  const state = trimmed === "" ? "it is empty" : "it is not a token";
  throw new InvalidValue(state, "Make one with berth token new, or ask an operator for one", true);
};

/** `aws:2` requests two resources of aws, `aws,gcp` one of either pool. */
export interface PoolCount {
  readonly pool: string;
  /** All pools to choose from, including `pool`; absent if there is only one. */
  readonly anyOf?: readonly string[];
  readonly count: number;
}

export const poolCount: Parse<PoolCount> = (text) => {
  const [, names = "", many = "1"] = /^([^:\s]+)(?::([^:]*))?$/.exec(text) ?? [];
  const pools = names.split(",");
  const count = Number(many);
  const unusable = pools.some((pool) => pool === "" || pool.length > limits.nameLengthMax);
  if (unusable || pools.length > limits.anyOfMax || !/^\d+$/.test(many)) {
    const hint = "Write it like aws-account or vm:2, or east,west for any of these";
    throw new InvalidValue("it is not POOL or POOL:COUNT", hint);
  }
  if (count < 1 || count > limits.countPerItemMax) {
    const most = limits.countPerItemMax;
    throw new InvalidValue("its count is out of range", `Use a count from 1 to ${most}`);
  }
  const [pool = "", ...others] = pools;
  return { pool, ...(others.length === 0 ? undefined : { anyOf: pools }), count };
};

export const label: Parse<readonly [string, string]> = (text) => {
  const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (/^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/.test(key)) {
    if (value.length <= limits.labelValueLengthMax) return [key, value];
    throw new InvalidValue("its value is too long", `Use ${limits.labelValueLengthMax} characters`);
  }
  throw new InvalidValue("it is not KEY=VALUE", "Write it like team=payments");
};
