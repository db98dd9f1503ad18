import { AjvCompiler } from "@fastify/ajv-compiler";
import { SerializerSelector } from "@fastify/fast-json-stringify-compiler";

const compileSerializer = SerializerSelector()();
type Serializer = ReturnType<typeof compileSerializer>;
const serializers = new Map<unknown, Serializer>();

/** A schema alone decides how it is serialised: ours refer to no other, and the route is irrelevant. */
function serializerOf(route: Parameters<typeof compileSerializer>[0]): Serializer {
  const known = serializers.get(route.schema);
  if (known !== undefined) return known;
  const made = compileSerializer(route);
  serializers.set(route.schema, made);
  return made;
}

/**
 * Fastify's own compilers, but one of each per process instead of one per app, because compiling is
 * most of what an app costs: each schema is compiled when it is first seen, however many replies it
 * stands in. A second app in the same process (every test has one) starts in a few milliseconds.
 *
 * Both remember by the identity of the schema (Ajv does so by itself), so a schema that many apps use
 * must be made once, beside the route, and not inside it.
 */
export const compilersFactory = {
  buildValidator: AjvCompiler(),
  buildSerializer: () => serializerOf,
};
