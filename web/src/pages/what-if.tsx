import { type ReactNode, useId, useState } from "react";
import type { Simulation, StatsPart } from "../../../src/api/history-schemas.ts";
import { countsOf } from "../../../src/api/pool-counts.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { strategies } from "../../../src/core/model/strategies.ts";
import { useSimulation } from "../data/simulation.ts";
import { ProblemNote } from "../parts/notes.tsx";
import { grouped, percentInUse } from "../parts/numbers.ts";
import { inWords } from "../parts/times.tsx";

/** A setting to simulate, and its value in words. */
interface Setting {
  readonly text: string;
  readonly words: string;
}

/**
 * Replays the recorded demand against another size of the pool, or against another limit if the pool
 * has no resources. A shared pool has a capacity for each resource instead of a size, so it is
 * replayed with another strategy.
 */
export function WhatIf({ pool }: { pool: Pool }) {
  const { name, place, limit } = pool;
  const { total } = countsOf(pool);
  const [size, setSize] = useState(total + 1);
  const others = strategies.filter((one) => one !== place);
  const [strategy, setStrategy] = useState<string>(others[0] ?? "pack");
  const setting =
    place === undefined
      ? { text: `${name}.${limit === undefined ? "count" : "limit"}=${size}`, words: grouped(size) }
      : { text: `${name}.place=${strategy}`, words: strategy };
  const title =
    place === undefined
      ? `What if the ${limit === undefined ? "pool had another size" : "limit were another"}?`
      : "What if the pool chose resources in another way?";
  return (
    <Replay name={name} title={title} setting={setting}>
      {place === undefined ? (
        <SizeSlider total={total} size={size} onChange={setSize} />
      ) : (
        <select
          aria-label="Strategy"
          value={strategy}
          onChange={(event) => setStrategy(event.target.value)}
        >
          {others.map((one) => (
            <option key={one} value={one}>
              {one} instead of {place}
            </option>
          ))}
        </select>
      )}
    </Replay>
  );
}

function SizeSlider(props: { total: number; size: number; onChange: (size: number) => void }) {
  const { total, size, onChange } = props;
  const slider = useId();
  return (
    <>
      <label htmlFor={slider}>
        <b>{grouped(size)}</b> instead of {grouped(total)}
      </label>
      <input
        id={slider}
        type="range"
        min={1}
        max={Math.max(10, total * 2)}
        value={size}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </>
  );
}

interface ReplayProps {
  readonly name: string;
  readonly title: string;
  readonly setting: Setting;
  /** The input of the setting. */
  readonly children: ReactNode;
}

function Replay({ name, title, setting, children }: ReplayProps) {
  const [last, setLast] = useState("24h");
  const [error, setError] = useState<unknown>(undefined);
  const [result, setResult] = useState<{ words: string; simulation: Simulation }>();
  const { running, done, start, cancel } = useSimulation();
  const run = async () => {
    setError(undefined);
    try {
      const simulation = await start({ last, set: [setting.text] });
      if (simulation !== undefined) setResult({ words: setting.words, simulation });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section aria-labelledby="what-if-title" className="what-if">
      <h2 id="what-if-title">{title}</h2>
      <div className="tools">
        {children}
        <select
          aria-label="Demand of the last"
          value={last}
          onChange={(e) => setLast(e.target.value)}
        >
          <option value="1h">last hour</option>
          <option value="24h">last day</option>
          <option value="7d">last week</option>
        </select>
        {running ? (
          <>
            <progress value={done} aria-label="Replayed so far" />
            <button type="button" onClick={cancel}>
              Stop
            </button>
          </>
        ) : (
          <button type="button" onClick={() => void run()}>
            Replay the demand
          </button>
        )}
      </div>
      <ProblemNote error={error} />
      <div aria-live="polite">
        {result === undefined ? null : <Outcome {...result} name={name} />}
      </div>
    </section>
  );
}

function Outcome(props: { name: string; words: string; simulation: Simulation }) {
  const { name, words, simulation } = props;
  const found = simulation.pools.find(({ pool }) => pool === name);
  if (found === undefined) return <p className="calm">There were no requests in that time.</p>;
  const rows: readonly (readonly [string, (part: StatsPart) => string])[] = [
    ["50 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p50)],
    ["90 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p90)],
    ["99 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p99)],
    ["In use", ({ utilisation }) => (utilisation === null ? "–" : percentInUse(utilisation))],
    ...found.recorded.dimensions.map(({ name: dimension }) => {
      return [`${dimension} in use`, (part: StatsPart) => shareOf(part, dimension)] as const;
    }),
    ["Released per hour", ({ endedPerHour }) => endedPerHour.toFixed(1)],
  ];
  return (
    <>
      <table className="compare">
        <thead>
          <tr>
            <th scope="col">{grouped(simulation.requests)} requests</th>
            <th scope="col" className="number">
              As it was
            </th>
            <th scope="col" className="number">
              With {words}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, show]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className="number">{show(found.recorded)}</td>
              <td className="number">{show(found.simulated)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>Limits of this simulation</summary>
        <ul className="plain-list">
          {simulation.unknowns.map((unknown) => (
            <li key={unknown}>{unknown}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

function shareOf({ dimensions }: StatsPart, name: string): string {
  const found = dimensions.find((dimension) => dimension.name === name);
  return found === undefined ? "–" : percentInUse(found.utilisation);
}
