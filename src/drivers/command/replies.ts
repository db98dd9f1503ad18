/** The replies of a driver program: the last line that it prints, checked. */
import Type, { type Static, type TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { type Json, phases } from "../driver.ts";

/** A handle is kept in the journal with each cluster. */
export const handleBytesMax = 16 * 1024;
const messageLengthMax = 4_000;
const blockingMax = 100;

const Text = Type.String({ maxLength: messageLengthMax });
const Short = Type.String({ maxLength: 2_000 });

const createReply = Compile(Type.Object({ handle: Type.Optional(Type.Unknown()) }));
const observeReply = Compile(
  Type.Object({
    phase: Type.Enum([...phases]),
    message: Type.Optional(Text),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    apiUrl: Type.Optional(Short),
    version: Type.Optional(Short),
    blocking: Type.Optional(Type.Array(Short, { maxItems: blockingMax })),
  }),
);
const credentialsReply = Compile(
  Type.Object({
    kubeconfig: Type.String({ minLength: 1, maxLength: 1_000_000 }),
    username: Type.Optional(Short),
    password: Type.Optional(Short),
    expiresAt: Type.Optional(Short),
  }),
);
const emptyReply = Compile(Type.Object({}));
const listReply = Compile(
  Type.Object({
    instances: Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1, maxLength: 253 }),
        instance: Type.String({ minLength: 1, maxLength: 253 }),
        createdAt: Type.String({ maxLength: 100 }),
      }),
      { maxItems: 100_000 },
    ),
  }),
);

export const replies = {
  create: createReply,
  observe: observeReply,
  credentials: credentialsReply,
  hibernate: emptyReply,
  resume: emptyReply,
  destroy: emptyReply,
  list: listReply,
  validate: emptyReply,
} as const;

export type Verb = keyof typeof replies;
export type Reply<Name extends Verb> =
  (typeof replies)[Name] extends Validator<infer _Context, infer Schema extends TSchema>
    ? Static<Schema>
    : never;

/** What is wrong with a reply, in words. It never quotes it: a reply may contain a secret. */
export class BadReply extends Error {
  override readonly name = "BadReply";
}

/** The checked reply. Throws `BadReply`. */
export function parseReply<Name extends Verb>(verb: Name, stdout: string): Reply<Name> {
  const line = lastLine(stdout);
  if (line === undefined) throw new BadReply("it printed no reply");
  const value = parsed(line);
  const schema = replies[verb];
  if (schema.Check(value)) return value as Reply<Name>;
  const [first] = schema.Errors(value);
  const where = first?.instancePath.slice(1).replaceAll("/", ".") ?? "";
  const what = where === "" ? "its reply" : `"${where}" of its reply`;
  throw new BadReply(`${what} ${first?.message ?? "has the wrong form"}`);
}

export function handleOf({ handle }: Reply<"create">): Json {
  const text = JSON.stringify(handle ?? null);
  if (Buffer.byteLength(text) > handleBytesMax) {
    throw new BadReply(`its handle has more than ${handleBytesMax} bytes`);
  }
  return (handle ?? null) as Json;
}

function lastLine(stdout: string): string | undefined {
  return stdout
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line !== "");
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new BadReply("the last line that it printed is not JSON");
  }
}
