/** What an action does to others, from what is known while its dialog is open. */
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { onePool, queueOf } from "../data/questions.ts";
import { leftWords, nextWords } from "./impact-words.ts";

/** More pools than this are not read for a dialog. */
const poolsMax = 3;

export function DrainImpact({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  return data === undefined ? null : <li>{leftWords(data)}</li>;
}

export function NextInLine({ pools }: { pools: readonly string[] }) {
  return [...new Set(pools)].slice(0, poolsMax).map((pool) => <NextFor key={pool} pool={pool} />);
}

function NextFor({ pool }: { pool: string }) {
  const { data } = useAnswer(queueOf(pool));
  const nowMs = useNowMs();
  return data === undefined ? null : <li>{nextWords(pool, data, nowMs)}</li>;
}
