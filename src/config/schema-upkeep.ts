/** The parts of a pool that keep its resources usable: expiry by silence, growth, cleaning. */
import Type from "typebox";
import { defaultCleaning } from "../core/decide/return-resource.ts";
import { formatDuration } from "../core/model/duration.ts";
import {
  innerDurationLimits,
  janitorParallelMax,
  janitorRetriesMax,
  janitorTextLengthMax,
  janitorVariablesMax,
  janitorWordsMax,
  resourcesMax,
  silencesMax,
} from "./limits.ts";
import { duration, StateName, state } from "./schema-fields.ts";

/** Half an hour is what Boskos's reaper waits, and what a sweep of a cloud account takes. */
export const defaultJanitor = { timeoutMs: 30 * 60_000, parallel: 1 } as const;

const after = duration(innerDurationLimits.silence, {
  example: "30m",
  description: "So long its holder may say nothing.",
});

export const SilenceRule = Type.Object(
  {
    after,
    to: state("The state that the resource goes to then; the same as onExpire unless written."),
  },
  { title: "silence", additionalProperties: false },
);

export const Silences = Type.Record(StateName, Type.Union([after, SilenceRule]), {
  title: "map of silences",
  description:
    "For holders that Berth knows by name only, as Boskos's clients are: by the state in which " +
    "they hold a resource, after how much silence it is taken back. Without it they keep it.",
  additionalProperties: false,
  maxProperties: silencesMax,
  examples: [{ busy: "30m", leased: { after: "2h", to: "dirty" } }],
});

export const Dynamic = Type.Object(
  {
    min: Type.Optional(
      Type.Integer({
        title: "whole number",
        description: "There are never fewer of them than this.",
        minimum: 0,
        maximum: resourcesMax,
        default: 0,
      }),
    ),
    max: Type.Integer({
      title: "whole number",
      description: "There are never more of the pool than this, listed ones included.",
      minimum: 1,
      maximum: resourcesMax,
    }),
    state: state("What a new one is in.", "free"),
    lifespan: Type.Optional(
      duration(innerDurationLimits.lifespan, {
        example: "12h",
        description:
          "One that nobody has taken for so long after it was given back is deleted. Without it " +
          "they stay.",
      }),
    ),
  },
  {
    title: "dynamic part",
    description:
      "Resources that come and go with demand, named <pool>-<number>, beside those that are " +
      "listed.",
    additionalProperties: false,
    examples: [{ min: 1, max: 5 }],
  },
);

/** An argument or a variable's text; no program can be given a zero byte. */
export const Word = Type.String({
  title: "text",
  pattern: `^[^\\x00]{0,${janitorTextLengthMax}}$`,
});

/** What begins with BERTH_ is set by Berth itself. */
export const VariableName = Type.String({
  title: "variable name",
  pattern: "^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]{0,127}$",
});

/** Boskos's clients may have called it anything. */
export const UserDataKey = Type.String({
  title: "user data key",
  description: "The key of the resource's user data that the variable is filled from.",
  pattern: "^[^\\x00-\\x1f\\x7f]{1,253}$",
});

export const FromUserData = Type.Object(
  { userData: UserDataKey },
  { title: "variable", additionalProperties: false },
);

const whole = (maximum: number, byDefault: number, description: string) =>
  Type.Optional(
    Type.Integer({ title: "whole number", description, minimum: 1, maximum, default: byDefault }),
  );

export const Janitor = Type.Object(
  {
    command: Type.Array(Word, {
      title: "list of words",
      description: "The program that cleans, and its arguments. No shell reads them.",
      minItems: 1,
      maxItems: janitorWordsMax,
      examples: [["./clean-account.sh", "--all"]],
    }),
    timeout: Type.Optional(
      duration(innerDurationLimits.timeout, {
        example: "30m",
        description: "A command that takes longer is ended, with all that it started.",
        defaultMs: defaultJanitor.timeoutMs,
      }),
    ),
    retries: whole(
      janitorRetriesMax,
      defaultCleaning.retries,
      "Failures in a row after which the resource is quarantined.",
    ),
    backoff: Type.Optional(
      duration(innerDurationLimits.backoff, {
        example: formatDuration(defaultCleaning.backoffMs),
        description: "A rest after the first failure, twice as long after each further one.",
        defaultMs: defaultCleaning.backoffMs,
      }),
    ),
    parallel: whole(
      janitorParallelMax,
      defaultJanitor.parallel,
      "So many resources of the pool are cleaned at once.",
    ),
    env: Type.Optional(
      Type.Record(VariableName, Type.Union([Word, FromUserData]), {
        title: "map of variables",
        description:
          "The command's environment: text, or the user data of the resource under a key. It is " +
          "given nothing else of it.",
        additionalProperties: false,
        maxProperties: janitorVariablesMax,
        examples: [{ REGION: "eu-west-1", AWS_KEY: { userData: "access-key-id" } }],
      }),
    ),
  },
  {
    title: "janitor",
    description: "What cleans the dirty resources of the pool, so that they are lent again.",
    additionalProperties: false,
    examples: [{ command: ["./clean-account.sh"], timeout: "30m" }],
  },
);
