import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { explanation } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { Loading } from "../parts/notes.tsx";
import { amountText } from "../parts/wants.ts";
import { at, useFilter } from "../router.ts";
import type { Amounts } from "./fit-facts.ts";
import { FitPicture } from "./fit-picture.tsx";

interface Props {
  readonly requests: readonly WaitingRequest[];
  readonly pool: string;
}

/** The picture of one request that waits for capacity: of the one that waits longest, or of another that is chosen. */
export function WhyNotFit({ requests, pool }: Props) {
  const [chosen, choose] = useFilter("fit");
  const waiting = requests
    .filter(waitsForCapacity)
    .sort((a, b) => a.queuedAt.localeCompare(b.queuedAt));
  const shown = waiting.find(({ id }) => id === chosen) ?? waiting[0];
  const amount = shown?.items.find((item) => item.pool === pool)?.amount;
  if (shown === undefined || amount === undefined) return null;
  return (
    <section aria-labelledby="fit-title">
      <div className="tools">
        <h2 id="fit-title">
          Why <Link href={at("requests", shown.id)}>{shown.holder}</Link> does not fit{" "}
          <small>{amountText(amount)}</small>
        </h2>
        {waiting.length < 2 ? null : (
          <label className="order">
            Request
            <select value={shown.id} onChange={(event) => choose(event.target.value)}>
              {waiting.map(({ id, holder }) => (
                <option key={id} value={id}>
                  {holder}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <Fit
        {...{ pool, amount, id: shown.id, ahead: shown.position - 1 }}
        isOverQuota={shown.reason.code === "quota_reached"}
      />
    </section>
  );
}

export function waitsForCapacity({ reason }: WaitingRequest): boolean {
  return reason.code === "no_room";
}

interface FitProps {
  readonly id: string;
  readonly pool: string;
  readonly amount: Amounts;
  readonly ahead: number;
  readonly isOverQuota: boolean;
}

function Fit({ id, pool, ...shown }: FitProps) {
  const { data } = useAnswer(explanation(id));
  const need = data?.needs.find((one) => one.pool === pool);
  if (need === undefined) return <Loading />;
  // All of them are listed below.
  return <FitPicture {...shown} size={need.size} rooms={need.rooms ?? []} max={4} />;
}
