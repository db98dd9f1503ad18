import { nearest } from "../core/model/nearest.ts";
import { type ConfigDocument, quote, readText, type Spot } from "./document.ts";
import { frontsMax, servedNamesMax } from "./limits.ts";
import { type ClusterPlace, readCluster } from "./read-mirror.ts";
import { type Entry, readKnown, readNamed, readTexts } from "./read-values.ts";
import { Front } from "./schema-caas.ts";
import { nameKind, namespaceKind } from "./text-kinds.ts";

/** An API server whose objects Berth serves. */
export interface FrontSpec extends ClusterPlace {
  readonly name: string;
  /** The pool of each ClusterTemplate. */
  readonly clusterTemplates: ReadonlyMap<string, string>;
  /** The pool of each tier of SpaceRequests. */
  readonly spaceRequests: ReadonlyMap<string, string>;
  readonly namespaceClaims: string | undefined;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
}

const expected = {
  title: "map of API servers to serve",
  hint: "write { tenants: { clusterTemplates: { small: my-pool } } }",
};
const frontExpected = {
  title: "API server to serve",
  hint: "write { clusterTemplates: { small: my-pool } }",
};
const namesExpected = { title: "map of names to pools", hint: "write { small: my-pool }" };
const keys = Object.keys(Front.properties);

interface Known {
  readonly pools: readonly string[];
  /** Those that make their resources. */
  readonly made: ReadonlySet<string>;
}

export function readCaas(
  document: ConfigDocument,
  field: Entry | undefined,
  known: Known,
): readonly FrontSpec[] {
  if (field === undefined) return [];
  const entries = { ...expected, names: nameKind, max: frontsMax, of: "API servers" };
  return readNamed(document, field, entries).flatMap(
    (entry) => readFront(document, entry, known) ?? [],
  );
}

function readFront(
  document: ConfigDocument,
  { key: name, at, value }: Entry,
  known: Known,
): FrontSpec | undefined {
  const fields = readKnown(document, value, keys, frontExpected);
  if (fields === undefined) return undefined;
  const claims = fields.get("namespaceClaims");
  const namespaces = fields.get("namespaces");
  const served = ["clusterTemplates", "spaceRequests", "namespaceClaims"];
  if (!served.some((key) => fields.has(key))) {
    document.source.refuse(at, "it serves nothing", frontExpected.hint);
  }
  const listed = { title: "list of namespaces", hint: "write [team-a]", kind: namespaceKind };
  return {
    name,
    ...readCluster(document, fields),
    clusterTemplates: readServed(document, fields.get("clusterTemplates"), known),
    spaceRequests: readServed(document, fields.get("spaceRequests"), known),
    namespaceClaims: claims && madePool(document, claims.value, known),
    namespaces:
      namespaces && readTexts(document, namespaces.value, { ...listed, max: servedNamesMax }),
  };
}

function readServed(
  document: ConfigDocument,
  field: Entry | undefined,
  known: Known,
): ReadonlyMap<string, string> {
  if (field === undefined) return new Map();
  const entries = { ...namesExpected, names: nameKind, max: servedNamesMax, of: "names" };
  return new Map(
    readNamed(document, field, entries).flatMap(({ key, value }) => {
      const pool = madePool(document, value, known);
      return pool === undefined ? [] : [[key, pool] as const];
    }),
  );
}

/** A pool of the file that makes its resources: only these have an access to hand over. */
function madePool(document: ConfigDocument, spot: Spot, known: Known): string | undefined {
  const { source } = document;
  const pool = readText(source, spot, nameKind);
  if (pool === undefined || known.made.has(pool)) return pool;
  if (known.pools.includes(pool)) {
    source.refuse(spot, `the pool ${pool} has no template`, "name a pool that makes clusters");
    return undefined;
  }
  const meant = nearest(pool, known.pools);
  const hint = meant === undefined ? "add the pool" : `write ${meant}`;
  source.refuse(spot, `there is no pool ${quote(pool)}`, hint);
  return undefined;
}
