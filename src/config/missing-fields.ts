/** Required fields that a file leaves out. A group without one of them would not be in force. */
import {
  type Field,
  hasFields,
  isRequired,
  isValues,
  type Table,
  type Values,
} from "../core/model/fields.ts";

/** What is missing in one place of the file. */
export interface MissingFields {
  /** The keys that lead there: a group, or a key that needs these fields at its side. */
  readonly path: readonly string[];
  readonly fields: readonly Field[];
  /** The fields are missing next to the key, not below it: the key can be removed instead. */
  readonly isInline: boolean;
}

/** What was written or was there before, level by level. */
interface Level {
  readonly path: readonly string[];
  readonly written: unknown;
  readonly before: unknown;
}

/** `hasKey` also knows keys whose value cannot be used: these are refused already. */
export class MissingFieldFinder {
  readonly #hasKey: (path: readonly string[]) => boolean;

  constructor(hasKey: (path: readonly string[]) => boolean) {
    this.#hasKey = hasKey;
  }

  /** In all groups of a table that are written. */
  findIn(table: Table, written: Values, before: Values): MissingFields[] {
    return this.#inGroups(table, { path: [], written, before });
  }

  #inGroups(table: Table, level: Level): MissingFields[] {
    return Object.entries(table).flatMap(([name, field]) => {
      const [written, before] = [valueIn(level.written, name), valueIn(level.before, name)];
      const path = [...level.path, field.key];
      return this.#inField(field, { path, written, before });
    });
  }

  #inField({ kind }: Field, level: Level): MissingFields[] {
    if (!hasFields(kind)) return [];
    switch (kind.type) {
      case "group":
        return isValues(level.written) ? this.#inGroup(kind.fields, level) : [];
      case "by-state": {
        const states = Object.entries(isValues(level.written) ? level.written : {});
        return states.flatMap(([state, written]) => {
          const path = [...level.path, state];
          return this.#inGroup(kind.fields, {
            path,
            written,
            before: valueIn(level.before, state),
          });
        });
      }
      case "inline":
        return this.#inInline(kind.fields, { ...level, path: level.path.slice(0, -1) });
    }
  }

  #inGroup(table: Table, level: Level): MissingFields[] {
    const fields = this.#missing(table, level);
    const here = fields.length === 0 ? [] : [{ path: level.path, fields, isInline: false }];
    return [...here, ...this.#inGroups(table, level)];
  }

  /** Each key of such a group that is written needs the required ones at its side. */
  #inInline(table: Table, level: Level): MissingFields[] {
    const fields = this.#missing(table, level);
    const paths = Object.values(table).map(({ key }) => [...level.path, key]);
    const written = fields.length === 0 ? [] : paths.filter(this.#hasKey);
    const here = written.map((path) => ({ path, fields, isInline: true }));
    return [...here, ...this.#inGroups(table, level)];
  }

  #missing(table: Table, { path, written, before }: Level): Field[] {
    return Object.entries(table).flatMap(([name, field]) => {
      if (!isRequired(field) || this.#hasKey([...path, field.key])) return [];
      const value = valueIn(written, name) ?? valueIn(before, name);
      return value === undefined ? [field] : [];
    });
  }
}

function valueIn(values: unknown, name: string): unknown {
  return isValues(values) ? values[name] : undefined;
}
