import { useState } from "react";
import type { Pool } from "../../../src/api/schemas.ts";
import { rateMax, rateMin } from "../../../src/core/model/field-kinds.ts";
import { berth } from "../data/berth.ts";
import { type Action, ActionButton } from "../parts/action-button.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";
import { hasPace, pinEffects, rateWords, unpinEffects } from "./flow-facts.ts";

/** Buttons to pin and unpin the start rate. */
export function PinButtons({ pool }: { pool: Pool }) {
  if (pool.retiring) return null; // The server would answer that there is no such pool.
  return (
    <>
      <PinButton pool={pool} />
      {pool.flow.pinned === null ? null : <ActionButton action={unpin(pool)} />}
    </>
  );
}

function PinButton({ pool }: { pool: Pool }) {
  const dialog = (close: () => void) => <PinDialog pool={pool} onClose={close} />;
  return <ActionButton action={pin(pool, Number.NaN)} dialog={dialog} />;
}

function PinDialog({ pool, onClose }: { pool: Pool; onClose: () => void }) {
  const [text, setText] = useState("");
  const action = pin(pool, text === "" ? Number.NaN : Number(text));
  return (
    <ActionDialog action={action} onClose={onClose}>
      <label>
        Starts per minute, {rateMin} to {rateMax.toLocaleString("en")}
        <input
          required
          type="number"
          inputMode="decimal"
          min={rateMin}
          max={rateMax}
          step="any"
          value={text}
          placeholder={placeholderOf(pool)}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </ActionDialog>
  );
}

/** The present rate. */
function placeholderOf({ flow: { everySeconds } }: Pool): string {
  return everySeconds === null ? "" : `${rateWords(60 / everySeconds)} now`;
}

function pin(pool: Pool, rate: number): Action {
  const { name } = pool;
  const isFirst = !hasPace(pool);
  return {
    // Beside no pace the word alone could be about anything, such as the limit.
    ...(isFirst ? { verb: "Pin a start rate", confirm: "Pin" } : { verb: "Pin" }),
    title: Number.isNaN(rate)
      ? `Pin ${isFirst ? "a" : "the"} start rate of ${name}`
      : `Pin ${name} at ${rate} starts per minute`,
    effects: pinEffects(pool, rate),
    run: (audit) => berth.pin(name, { rate, ...audit }),
    done: `${name} is pinned at ${rate} starts per minute`,
  };
}

function unpin(pool: Pool): Action {
  const { name } = pool;
  return {
    verb: "Unpin",
    title: `Unpin ${name}`,
    effects: unpinEffects(pool),
    isUndo: true,
    run: (audit) => berth.unpin(name, audit),
    done: `${name} is unpinned`,
  };
}
