import { useState } from "react";
import { limits } from "../../../src/api/limits.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { berth } from "../data/berth.ts";
import { type Action, ActionButton } from "../parts/action-button.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";

/** A button to change the priority of a waiting request. */
export function BumpButton({ request }: { request: WaitingRequest }) {
  const dialog = (close: () => void) => <BumpDialog request={request} onClose={close} />;
  return <ActionButton action={bump(request, "")} dialog={dialog} />;
}

function BumpDialog({ request, onClose }: { request: WaitingRequest; onClose: () => void }) {
  const [text, setText] = useState("");
  return (
    <ActionDialog action={bump(request, text.trim())} onClose={onClose}>
      <label>
        Priority, a number or a name
        <input
          required
          pattern="\s*([+\-]?[0-9]{1,4}|[A-Za-z][A-Za-z0-9._\-]{0,62})\s*"
          title={`A whole number from -${limits.priorityMax} to ${limits.priorityMax}, or a name`}
          value={text}
          placeholder={`${request.priority} now`}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </ActionDialog>
  );
}

function bump({ id, holder, position }: WaitingRequest, text: string): Action {
  const priority = /^[+-]?\d+$/.test(text) ? Number(text) : text;
  return {
    verb: "Change priority",
    title: `Change the priority of ${holder}`,
    effects: [
      `${holder} is at position ${position}. Requests with a higher priority go first.`,
      "Among requests of the same priority, the shares of the spaces and the arrival decide.",
    ],
    run: ({ by, reason }) =>
      berth.bump(id, { priority, by, reason: reason === "" ? "changed in the page" : reason }),
    done: `${holder} has another priority`,
  };
}
