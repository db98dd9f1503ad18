import { formatPath, type Path } from "../../config/document.ts";

/**
 * A position in a JSON document, with its value. Errors are collected with the position and never
 * with the value, because it may be a secret.
 */
export class JsonCursor {
  readonly #path: Path;
  readonly #value: unknown;
  readonly #problems: string[];

  constructor(value: unknown, problems: string[], path: Path = []) {
    this.#value = value;
    this.#problems = problems;
    this.#path = path;
  }

  get place(): string {
    return formatPath(this.#path);
  }

  /** False if the value is missing or null, which Go writes for a missing value. */
  get exists(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  /** Moves one level down. If this is not an object, the result has no value. */
  at(key: string): JsonCursor {
    const value = this.#entries().find(([name]) => name === key)?.[1];
    return new JsonCursor(value, this.#problems, [...this.#path, key]);
  }

  items(): readonly JsonCursor[] {
    if (!Array.isArray(this.#value)) {
      this.refuse(this.exists ? "it is not a list" : "it is missing");
      return [];
    }
    return this.#value.map(
      (item: unknown, index) => new JsonCursor(item, this.#problems, [...this.#path, index]),
    );
  }

  /** Returns an empty string if there is no value. */
  text(): string {
    if (!this.exists) return "";
    if (typeof this.#value === "string") return this.#value;
    this.refuse("it is not text");
    return "";
  }

  requiredText(): string {
    const text = this.text();
    if (text === "" && (!this.exists || this.#value === "")) this.refuse("it is missing");
    return text;
  }

  texts(): Readonly<Record<string, string>> {
    const entries = this.#entries();
    return Object.fromEntries(entries.map(([key]) => [key, this.at(key).text()]));
  }

  /** Milliseconds since 1970. */
  time(): number | undefined {
    const text = this.text();
    const timeMs = text === "" ? Number.NaN : Date.parse(text);
    if (text !== "" && Number.isNaN(timeMs))
      this.refuse("it is not a time such as 2026-01-31T12:00:00Z");
    return Number.isNaN(timeMs) ? undefined : timeMs;
  }

  whole(): number {
    if (!this.exists) return 0;
    if (typeof this.#value === "number" && Number.isSafeInteger(this.#value)) return this.#value;
    this.refuse("it is not a whole number");
    return 0;
  }

  refuse(state: string): void {
    const name = this.place === "" ? "the file" : this.place;
    this.#problems.push(`Cannot read ${name}: ${state}`);
  }

  #entries(): readonly (readonly [string, unknown])[] {
    if (!this.exists) return [];
    if (typeof this.#value === "object" && this.#value !== null && !Array.isArray(this.#value)) {
      return Object.entries(this.#value);
    }
    this.refuse("it is not an object");
    return [];
  }
}
