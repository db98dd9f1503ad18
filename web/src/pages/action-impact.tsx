/** What an action does to others, from what is known while its dialog is open. A line is there before its answer is. */
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { onePool, queueOf, somePools } from "../data/questions.ts";
import { leftWords, nextWords, pauseWords } from "./impact-words.ts";

/** More pools than this are not read for a dialog. */
const poolsMax = 3;

export function DrainImpact({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  return (
    <li>{data === undefined ? `What is left in ${pool} is being read …` : leftWords(data)}</li>
  );
}

interface PoolsProps {
  readonly pools: readonly string[];
}

function usePause(pools: readonly string[]): string {
  return pauseWords(useAnswer(somePools(pools.slice(0, poolsMax))).data ?? []);
}

/** When others get what an ended lease holds. */
export function LentAgain({ pools, ttl }: PoolsProps & { ttl: string | null }) {
  const pause = usePause(pools);
  const timeout = ttl === null ? "" : ` (${ttl})`;
  return (
    <li>
      What it holds is lent again when the job releases it, or when the heartbeat timeout{timeout}{" "}
      is over{pause === "" ? "" : `, ${pause}`}.
    </li>
  );
}

interface WithoutWaitProps extends PoolsProps {
  readonly names: string;
  readonly holder: string;
}

/** The same, if nobody waits for its job. */
export function LentWithoutWait({ names, holder, pools }: WithoutWaitProps) {
  const pause = usePause(pools);
  return (
    <li>
      {names} can be lent again {pause === "" ? "at once" : pause}, without waiting for {holder}.
    </li>
  );
}

export function NextInLine({ pools }: PoolsProps) {
  return pools.slice(0, poolsMax).map((pool) => <NextFor key={pool} pool={pool} />);
}

function NextFor({ pool }: { pool: string }) {
  const { data } = useAnswer(queueOf(pool));
  const nowMs = useNowMs();
  return (
    <li>
      {data === undefined
        ? `Who is next for ${pool} is being read …`
        : nextWords(pool, data, nowMs)}
    </li>
  );
}
