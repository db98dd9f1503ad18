import { useId, useState } from "react";
import type { Simulation, StatsPart } from "../../../src/api/history-schemas.ts";
import type { Pool } from "../../../src/api/schemas.ts";
import { useSimulation } from "../data/simulation.ts";
import { ProblemNote } from "../parts/notes.tsx";
import { grouped, percent } from "../parts/numbers.ts";
import { inWords } from "../parts/times.tsx";

/** Replays the recorded demand against another size of the pool. */
export function WhatIf({ pool }: { pool: Pool }) {
  const { name, total } = pool;
  const [size, setSize] = useState(total + 1);
  const [last, setLast] = useState("24h");
  const [error, setError] = useState<unknown>(undefined);
  const [result, setResult] = useState<{ size: number; simulation: Simulation }>();
  const slider = useId();
  const { running, done, start, cancel } = useSimulation();
  const run = async () => {
    setError(undefined);
    try {
      const simulation = await start({ last, set: [`${name}.count=${size}`] });
      if (simulation !== undefined) setResult({ size, simulation });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section aria-labelledby="what-if-title" className="what-if">
      <h2 id="what-if-title">What if the pool had another size?</h2>
      <div className="tools">
        <label htmlFor={slider}>
          <b>{grouped(size)}</b> instead of {grouped(total)}
        </label>
        <input
          id={slider}
          type="range"
          min={1}
          max={Math.max(10, total * 2)}
          value={size}
          onChange={(event) => setSize(Number(event.target.value))}
        />
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

function Outcome(props: { name: string; size: number; simulation: Simulation }) {
  const { name, size, simulation } = props;
  const found = simulation.pools.find(({ pool }) => pool === name);
  if (found === undefined) return <p className="calm">There were no requests in that time.</p>;
  const rows: readonly (readonly [string, (part: StatsPart) => string])[] = [
    ["50 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p50)],
    ["90 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p90)],
    ["99 % waited at most", ({ waitSeconds }) => inWords(waitSeconds?.p99)],
    ["In use", ({ utilisation }) => (utilisation === null ? "–" : percent(utilisation))],
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
              With {grouped(size)}
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
