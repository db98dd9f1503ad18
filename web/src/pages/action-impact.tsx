/** What an action does to others, from what is known while its dialog is open. A line is there before its answer is. */
import type { Lease } from "../../../src/api/schemas.ts";
import { useNowMs } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { onePool, queueOf, somePools } from "../data/questions.ts";
import {
  backWords,
  deadlineWords,
  heldWords,
  leftWords,
  lentAgainWords,
  nextWords,
  pauseWords,
} from "./impact-words.ts";
import { endOf, expiryOf } from "./lease-ends.ts";

/** More pools than this are not read for a dialog. */
const poolsMax = 3;

export function DrainImpact({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  return (
    <li>{data === undefined ? `What is left in ${pool} is being read …` : leftWords(data)}</li>
  );
}

/** Who gets what comes back into service. */
export function BackImpact({ pool }: { pool: string }) {
  const { data } = useAnswer(onePool(pool));
  return <li>{data === undefined ? `Who waits for ${pool} is being read …` : backWords(data)}</li>;
}

interface PoolsProps {
  readonly pools: readonly string[];
}

function usePause(pools: readonly string[]): string {
  return pauseWords(useAnswer(somePools(pools.slice(0, poolsMax))).data ?? []);
}

interface LossProps {
  readonly holder: string;
  readonly names: string;
  readonly grantedAt: string;
}

/** Its time goes on while the dialog is open, as the others there do. */
export function Loss({ holder, names, grantedAt }: LossProps) {
  const nowMs = useNowMs();
  return (
    <li>
      {holder} loses {names}, which it has held for {heldWords(grantedAt, nowMs)}.
    </li>
  );
}

/** When others get what an ended lease holds. */
export function LentAgain({ pools, lease }: PoolsProps & { lease: Lease }) {
  const pause = usePause(pools);
  const nowMs = useNowMs();
  return <li>{lentAgainWords(deadlineWords(expiryOf(lease), endOf(lease), nowMs), pause)}</li>;
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
      {names} can be lent again {pause === "" ? "at once" : `after a pause of ${pause}`}, without
      waiting for {holder}.
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
