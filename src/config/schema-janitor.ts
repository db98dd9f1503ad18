/** What cleans a pool's dirty resources. */
import Type from "typebox";
import { policyFields } from "../core/model/policy-fields.ts";
import { propertiesOf } from "./field-schemas.ts";
import {
  innerDurationLimits,
  janitorParallelMax,
  janitorTextLengthMax,
  janitorVariablesMax,
  janitorWordsMax,
} from "./limits.ts";
import { duration } from "./schema-fields.ts";

/** Half an hour is what Boskos's reaper waits, and what a sweep of a cloud account takes. */
export const defaultJanitor = { timeoutMs: 30 * 60_000, parallel: 1 } as const;

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

export const Janitor = Type.Object(
  {
    command: Type.Array(Word, {
      title: "list of words",
      description:
        "The program that cleans, relative to this file, and its arguments. No shell reads them.",
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
    ...propertiesOf(policyFields.cleaning.kind.fields),
    parallel: Type.Optional(
      Type.Integer({
        title: "whole number",
        description: "How many resources of the pool are cleaned at once.",
        minimum: 1,
        maximum: janitorParallelMax,
        default: defaultJanitor.parallel,
      }),
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
    title: policyFields.cleaning.kind.title,
    description: policyFields.cleaning.text,
    additionalProperties: false,
    examples: policyFields.cleaning.examples,
  },
);
