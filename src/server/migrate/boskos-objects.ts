/**
 * Parses the records of Boskos, as `kubectl get resources,dynamicresourcelifecycles -o json` prints
 * them.
 */
import { describeUserDataFault, userDataFault } from "../../core/model/user-data.ts";
import { JsonCursor } from "./json-cursor.ts";

export interface BoskosResource {
  readonly name: string;
  readonly type: string;
  readonly state: string;
  /** Empty if the resource has no owner. */
  readonly owner: string;
  readonly userData: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly updatedAt: number | undefined;
  readonly expiresAt: number | undefined;
}

export interface BoskosLifecycle {
  readonly type: string;
  readonly min: number;
  readonly max: number;
}

export interface BoskosObjects {
  readonly resources: readonly BoskosResource[];
  readonly lifecycles: readonly BoskosLifecycle[];
  /** Kinds that do not belong to Boskos, with their counts. */
  readonly others: ReadonlyMap<string, number>;
}

/** All errors in the file, without any value, because a value may be a secret. */
export class BadBoskosObjects extends Error {
  override readonly name = "BadBoskosObjects";
  readonly hint = "Make it with: kubectl get resources,dynamicresourcelifecycles -o json";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const resourceKind = "ResourceObject";
const lifecycleKind = "DRLCObject";

export function parseBoskosObjects(text: string): BoskosObjects {
  const problems: string[] = [];
  const root = new JsonCursor(parseJson(text), problems);
  // A single object counts as a list of one.
  const single = !root.at("items").exists && root.at("metadata").exists;
  const items = single ? [root] : root.at("items").items();
  const kinds = Map.groupBy(items, (item) => item.at("kind").requiredText());
  const resources = (kinds.get(resourceKind) ?? []).map(readResource);
  const lifecycles = (kinds.get(lifecycleKind) ?? []).map(readLifecycle);
  refuseTwins(kinds.get(resourceKind) ?? []);
  if (problems.length > 0) throw new BadBoskosObjects([...new Set(problems)]);
  kinds.delete(resourceKind);
  kinds.delete(lifecycleKind);
  const others = new Map(Array.from(kinds, ([kind, { length }]) => [kind, length]));
  return { resources, lifecycles, others };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message quotes the text around the error, which may be a credential.
    const message = error instanceof Error ? error.message : "";
    const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
    const place = line === undefined ? "" : ` from line ${line}, column ${column} on`;
    throw new BadBoskosObjects([`Cannot read the file: it is not JSON${place}`]);
  }
}

function readResource(item: JsonCursor): BoskosResource {
  const status = item.at("status");
  return {
    name: item.at("metadata").at("name").requiredText(),
    type: item.at("spec").at("type").requiredText(),
    state: status.at("state").text(),
    owner: status.at("owner").text(),
    userData: readUserData(status.at("userData")),
    updatedAt: status.at("lastUpdate").time(),
    expiresAt: status.at("expirationDate").time(),
  };
}

function readUserData(item: JsonCursor): Readonly<Record<string, string>> {
  const userData = item.texts();
  const fault = userDataFault(userData);
  if (fault !== undefined) item.refuse(describeUserDataFault(fault));
  return userData;
}

function readLifecycle(item: JsonCursor): BoskosLifecycle {
  const spec = item.at("spec");
  return {
    type: item.at("metadata").at("name").requiredText(),
    min: spec.at("min-count").whole(),
    max: spec.at("max-count").whole(),
  };
}

/** Two namespaces may contain the same names, but one Berth cannot. */
function refuseTwins(items: readonly JsonCursor[]): void {
  const first = new Map<string, string>();
  for (const item of items) {
    const name = item.at("metadata").at("name");
    const known = first.get(name.text());
    if (known === undefined) first.set(name.text(), name.place);
    else name.refuse(`${known} is the same; take one namespace with kubectl -n`);
  }
}
