/**
 * Templates that clusters were made from, also after the configuration has dropped or changed them:
 * a cluster is destroyed with what it was made with. It has references to secrets, never secrets.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TemplateSpec } from "../../config/template-spec.ts";

export class TemplateArchive {
  readonly #path: string | undefined;
  #current = new Map<string, TemplateSpec>();
  #past = new Map<string, TemplateSpec>();
  /** What the file has: it is not written again without need, because its disk may be full. */
  #written = "[]";

  /** Without a folder nothing outlives the process. */
  constructor(folder?: string) {
    this.#path = folder === undefined ? undefined : join(folder, "templates.json");
    for (const spec of this.#read()) this.#past.set(keyOf(spec), spec);
  }

  /** The templates of the configuration in force. */
  get current(): readonly TemplateSpec[] {
    return [...this.#current.values()];
  }

  /** Durable before a cluster is made from them. */
  configure(specs: readonly TemplateSpec[]): void {
    this.#current = new Map(specs.map((spec) => [spec.name, spec]));
    for (const spec of specs) this.#past.set(keyOf(spec), spec);
    this.#write();
  }

  /** The revision that the cluster was made from, or else the present one of the same name. */
  find(template: string, revision: string): TemplateSpec | undefined {
    return this.#past.get(keyOf({ name: template, revision })) ?? this.#current.get(template);
  }

  /** Forgets revisions that no cluster has any longer. */
  keepUsed(used: readonly { readonly template: string; readonly revision: string }[]): void {
    const keys = new Set(used.map(({ template: name, revision }) => keyOf({ name, revision })));
    for (const spec of this.#current.values()) keys.add(keyOf(spec));
    const gone = [...this.#past.keys()].filter((key) => !keys.has(key));
    if (gone.length === 0) return;
    for (const key of gone) this.#past.delete(key);
    this.#write();
  }

  #read(): readonly TemplateSpec[] {
    if (this.#path === undefined) return [];
    try {
      const text = readFileSync(this.#path, "utf8");
      const specs = JSON.parse(text) as TemplateSpec[];
      this.#written = text;
      return specs;
    } catch {
      return []; // There is none yet. The present templates serve for older revisions too.
    }
  }

  #write(): void {
    if (this.#path === undefined) return;
    const text = JSON.stringify([...this.#past.values()]);
    if (text === this.#written) return;
    const draft = `${this.#path}.new`;
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, this.#path);
    this.#written = text;
  }
}

function keyOf({ name, revision }: Pick<TemplateSpec, "name" | "revision">): string {
  return `${name} ${revision}`;
}
