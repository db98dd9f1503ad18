import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { CompareBody, SimulatedVariants } from "../../../src/api/history-schemas.ts";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import type { Space } from "../../../src/api/space-schemas.ts";
import { serverNowMs } from "../data/berth.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { allPools, allSpaces } from "../data/questions.ts";
import { useSimulation } from "../data/simulation.ts";
import { useStore } from "../data/store.ts";
import { Link } from "../parts/link.tsx";
import { ProblemNote } from "../parts/notes.tsx";
import { useScrollTo } from "../parts/scroll-to.ts";
import { go, usePlace } from "../router.ts";
import { sharersOf } from "./limit-facts.ts";
import { WhatIfAnswer } from "./what-if-answer.tsx";
import {
  type Cause,
  type Caveat,
  causeOf,
  caveatOf,
  firstTopic,
  questionsOf,
  questionWords,
  settingOf,
  suggestedFor,
  valuesIn,
  valuesMax,
  valuesProblem,
  type WhatIfQuestion,
} from "./what-if-facts.ts";
import { whatIfAt, whatIfTitle } from "./what-if-place.ts";
import { spans } from "./what-if-words.ts";

/**
 * For those who plan capacity: the recorded demand is replayed with several values of one setting, side
 * by side. Question and end of the replayed time are in the address, so a link has the same answer.
 */
export function WhatIf({ pool }: { pool: Pool }) {
  const us = useStore(whoami);
  return us?.authentication ? <OfSpaces pool={pool} /> : <Planner pool={pool} spaces={[]} />;
}

function OfSpaces({ pool }: { pool: Pool }) {
  const { data, error } = useAnswer(allSpaces);
  // A link may ask about a weight, which needs the spaces.
  if (data === undefined && error === undefined) return null;
  // Those who use the pool at the moment change all the time, and others have used it in the past.
  return <Planner pool={pool} spaces={data ?? []} />;
}

/** The question as it is in the address, or the first one that fits the pool. */
function useQuestion(pool: Pool, spaces: readonly Space[]) {
  const { query } = usePlace();
  const named = query.get("space");
  const below = usePoolsBelow(pool);
  const space =
    spaces.find(({ name }) => name === named) ??
    spaces.find(({ holds, waits = [] }) =>
      [...holds, ...waits].some((one) => one.pool === pool.name),
    ) ??
    spaces[0];
  const questions = questionsOf(pool, spaces.length > 1 ? space : undefined);
  // Once, so that it does not change while somebody reads it.
  const [topic] = useState(() => firstTopic(pool));
  const first = questions.find((one) => one.topic === topic) ?? questions[0];
  const question = questions.find(({ topic }) => topic === query.get("if")) ?? first;
  return {
    ...{ questions, question, below },
    values:
      query.get("values") ??
      (question === undefined ? "" : suggestedFor(question, below).join(", ")),
    space: space?.name ?? named ?? "",
    last: query.get("last") ?? "24h",
    /** The end of the replayed time, if the address has an answer. The charts have a time of their own. */
    until: query.get("until"),
  };
}

/** Below a limit, with how many resources each has. */
function usePoolsBelow({ name, limit }: Pool) {
  const { data } = useAnswer(allPools);
  const pools = data?.pools ?? [];
  if (limit === undefined) return [];
  return sharersOf(name, pools).flatMap((sharer) => {
    const pool = pools.find((one) => one.name === sharer.name);
    return pool === undefined ? [] : [{ name: pool.name, total: countsOf(pool).total }];
  });
}

function setInAddress(changes: Readonly<Record<string, string | null>>): void {
  const next = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  go(location.pathname + (text === "" ? "" : `?${text}`), { replace: true, keepScroll: true });
}

interface Answered {
  readonly question: WhatIfQuestion;
  readonly values: readonly string[];
  readonly space: string;
  readonly last: string;
  readonly found: SimulatedVariants;
  /** As it was when it was asked, so that the answer does not change while somebody reads it. */
  readonly cause: Cause | undefined;
}

function Planner({ pool, spaces }: { pool: Pool; spaces: readonly Space[] }) {
  const { questions, question, below, values, space, last, until } = useQuestion(pool, spaces);
  const [error, setError] = useState<unknown>(undefined);
  const [answer, setAnswer] = useState<Answered>();
  const { running, done, start, cancel } = useSimulation();
  // What somebody has not finished writing is no mistake yet.
  const [tried, setTried] = useState(false);
  const problem = tried && question !== undefined ? valuesProblem(values, question) : undefined;
  const run = async (end: string) => {
    if (question === undefined) return;
    setTried(true);
    setError(undefined);
    if (valuesProblem(values, question) !== undefined) return;
    setInAddress({ if: question.topic, values, last, until: end, ...spaceOf(question, space) });
    const wanted = valuesIn(values, question);
    try {
      const found = await start(bodyOf(pool.name, question, wanted, { space, last, to: end }));
      const cause = causeOf(pool, question.topic, below, spaces);
      if (found !== undefined) setAnswer({ question, values: wanted, space, last, found, cause });
    } catch (problem) {
      setError(problem);
    }
  };
  useOnce(until !== null && question !== undefined, () => void run(until ?? ""));
  useScrollTo(whatIfTitle);
  const now = () => new Date(serverNowMs()).toISOString();
  return (
    <section aria-labelledby={whatIfTitle} className="what-if">
      <h2 id={whatIfTitle}>What if?</h2>
      <CaveatNote caveat={caveatOf(pool)} />
      {question === undefined ? null : (
        <>
          <p className="calm">
            {questionWords(pool, question, space)} The recorded demand is replayed with each of the
            values.
          </p>
          <Form {...{ questions, question, values, space, spaces, last, problem }}>
            {running ? (
              <>
                <progress value={done} aria-label="Replayed so far" />
                <span className="faint">{Math.round(done * 100)} % replayed</span>
                <button type="button" onClick={cancel}>
                  Stop
                </button>
              </>
            ) : (
              <button type="submit" onClick={() => void run(now())}>
                Replay the demand
              </button>
            )}
          </Form>
          <ProblemNote error={error} />
          <div aria-live="polite">
            {running ? (
              <p className="answer">Replaying what was asked for, with each of these values …</p>
            ) : answer === undefined ? null : (
              // It is of the values before, and not of those that cannot be compared.
              <div
                className={problem === undefined && error === undefined ? undefined : "outdated"}
              >
                <WhatIfAnswer name={pool.name} {...answer} />
              </div>
            )}
          </div>
        </>
      )}
    </section>
  );
}

function CaveatNote({ caveat }: { caveat: Caveat | undefined }) {
  if (caveat === undefined) return null;
  const { text, limit } = caveat;
  return (
    <p className="calm">
      {text}{" "}
      {limit === undefined ? null : (
        <>
          <Link href={whatIfAt(limit)}>Ask about the limit</Link> on its own page.
        </>
      )}
    </p>
  );
}

const spaceOf = ({ topic }: WhatIfQuestion, space: string) => ({
  space: topic === "weight" ? space : null,
});

interface Asked {
  readonly space: string;
  readonly last: string;
  readonly to: string;
}

/** The first variant is the pool as it is. */
function bodyOf(
  pool: string,
  { topic }: WhatIfQuestion,
  values: readonly string[],
  { space, last, to }: Asked,
): CompareBody {
  const variants = values.map((value) => [settingOf(topic, value, pool, space)]);
  return { pool, last, to, variants: [[], ...variants], ...(topic === "weight" && { space }) };
}

/** Runs once, as soon as it is wanted: for an address that has a question. */
function useOnce(wanted: boolean, run: () => void): void {
  const ran = useRef(false);
  useEffect(() => {
    if (!wanted || ran.current) return;
    ran.current = true;
    run();
  });
}

interface FormProps {
  readonly questions: readonly WhatIfQuestion[];
  readonly question: WhatIfQuestion;
  readonly values: string;
  readonly space: string;
  readonly spaces: readonly Space[];
  readonly last: string;
  /** Why the values cannot be compared. */
  readonly problem: string | undefined;
  readonly children: ReactNode;
}

function Form(props: FormProps) {
  const { questions, question, values, space, spaces, last, problem, children } = props;
  const field = useId();
  const ask = (topic: string) =>
    setInAddress({ if: topic, values: null, until: null, space: null });
  return (
    <form className="tools" onSubmit={(event) => event.preventDefault()}>
      <select aria-label="Question" value={question.topic} onChange={(e) => ask(e.target.value)}>
        {questions.map(({ topic, title }) => (
          <option key={topic} value={topic}>
            {title}
          </option>
        ))}
      </select>
      {question.topic === "weight" ? (
        <select
          aria-label="Space"
          value={space}
          onChange={(e) => setInAddress({ space: e.target.value, values: null, until: null })}
        >
          {spaces.map(({ name, weight }) => (
            <option key={name} value={name}>
              {name}, weight {weight}
            </option>
          ))}
        </select>
      ) : null}
      <label htmlFor={field} className="values-label">
        Compare
      </label>
      <input
        id={field}
        className={question.numeric ? "values" : "values words"}
        value={values}
        title={`Up to ${valuesMax} values, with commas between them`}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${field}-problem`}
        onChange={(e) => setInAddress({ values: e.target.value, until: null })}
      />
      <select
        aria-label="Demand of the last"
        value={last}
        onChange={(e) => setInAddress({ last: e.target.value, until: null })}
      >
        {spans.map(([span, words]) => (
          <option key={span} value={span}>
            {words}
          </option>
        ))}
      </select>
      {children}
      {problem === undefined ? null : (
        <p id={`${field}-problem`} className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
