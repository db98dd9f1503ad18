/** The keys that space grants out and that bound several pools together. */
import Type from "typebox";
import { durationPattern } from "../core/model/duration.ts";
import { defaultAdaptive } from "../core/model/policy.ts";
import { resourcesMax } from "./limits.ts";

const closed = { additionalProperties: false } as const;
const Span = Type.String({ pattern: durationPattern });

export const burstMax = 10_000;
export const rateMin = 0.001;
export const rateMax = 60_000;

export const Pace = Type.Object(
  {
    every: Type.Union([Span, Type.Literal("auto")], {
      title: "duration, or auto",
      description:
        "A grant comes so long after the one before. auto: the hold divided by how many may be " +
        "held at one time, from measured holds once there are some. From 1ms to 1d.",
      examples: ["24s", "auto"],
    }),
    burst: Type.Optional(
      Type.Integer({
        title: "whole number",
        description: "So many may be granted in one instant after a quiet time.",
        minimum: 1,
        maximum: burstMax,
        default: 1,
        examples: [5],
      }),
    ),
    jitter: Type.Optional(
      Type.Number({
        title: "share",
        description:
          "By up to this share of `every` a grant is put off, by a hash of the request before: " +
          "the same history has the same times, and the flow stays what it is.",
        minimum: 0,
        maximum: 1,
        default: 0,
        examples: [0.25],
      }),
    ),
  },
  {
    title: "pace",
    description:
      "Spaces the grants of the pool and of all that draws on it out, so that holders do not start " +
      "together.",
    ...closed,
    examples: [{ every: "24s" }, { every: "auto", burst: 2 }],
  },
);

const rate = (description: string, byDefault: number) =>
  Type.Optional(
    Type.Number({
      title: "number of starts per minute",
      description,
      minimum: rateMin,
      maximum: rateMax,
      default: byDefault,
      examples: [2.5],
    }),
  );

const span = (description: string, byDefault: string) =>
  Type.Optional({
    ...Span,
    title: "duration",
    description: `${description} From 1s to 1d.`,
    default: byDefault,
    examples: [byDefault],
  });

export const Adaptive = Type.Object(
  {
    mode: Type.Optional(
      Type.Union([Type.Literal("off"), Type.Literal("advise"), Type.Literal("auto")], {
        title: "mode",
        description: "off, auto, or advise: it is told what the rate would be and left at that.",
        default: defaultAdaptive.mode,
        examples: ["advise"],
      }),
    ),
    min: rate("Starts per minute that no report lowers it below.", defaultAdaptive.min),
    max: rate("Starts per minute that it never rises above.", defaultAdaptive.max),
    factor: Type.Optional(
      Type.Number({
        title: "share",
        description: "What is left of the rate after a report of throttling.",
        minimum: 0.05,
        maximum: 0.99,
        default: defaultAdaptive.factor,
        examples: [0.7],
      }),
    ),
    cutEvery: span("Further reports lower the rate again only after so long.", "5m"),
    step: rate("So many starts per minute are added after a clean while.", defaultAdaptive.step),
    raiseAfter: span("A while is clean when so long there was no report.", "10m"),
  },
  {
    title: "adaptive rate",
    description: "Lets holders' reports of throttling find how many starts a minute are borne.",
    ...closed,
    examples: [{ min: 0.5, max: 6 }],
  },
);

export const Parent = Type.String({
  title: "name of a pool",
  description:
    "The pool that this one draws on: what is lent of it counts against that one's limit, and goes " +
    "by that one's pace, as well.",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
  examples: ["aws-account"],
});

export const Limit = Type.Integer({
  title: "whole number",
  description:
    "So many may be held at one time of this pool and of all that draws on it. Without it, as " +
    "many as the pool has. A pool with a limit needs no resources of its own.",
  minimum: 0,
  maximum: resourcesMax,
  examples: [155],
});
