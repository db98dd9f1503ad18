import { useState } from "react";
import { limits } from "../../../src/api/limits.ts";
import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { berth } from "../data/berth.ts";
import { type Action, ActionButton } from "../parts/action-button.tsx";
import { ActionDialog } from "../parts/action-dialog.tsx";

/** A button to change the priority of a waiting request. */
export function BumpButton(props: Props) {
  const dialog = (close: () => void) => <BumpDialog {...props} onClose={close} />;
  return <ActionButton action={bump(props, "")} dialog={dialog} />;
}

interface Props {
  readonly request: WaitingRequest;
  /** The position that the view shows. */
  readonly place: number | undefined;
}

function BumpDialog({ onClose, ...props }: Props & { onClose: () => void }) {
  const { request } = props;
  const [text, setText] = useState("");
  return (
    <ActionDialog action={bump(props, text.trim())} onClose={onClose}>
      <label>
        Priority, from −{limits.priorityMax} to {limits.priorityMax}
        <input
          required
          pattern="\s*([+\-]?[0-9]{1,4}|[A-Za-z][A-Za-z0-9._\-]{0,62})\s*"
          title={`A whole number from -${limits.priorityMax} to ${limits.priorityMax}, or its name in the configuration`}
          value={text}
          placeholder={`${request.priority} now`}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
    </ActionDialog>
  );
}

function bump({ request, place }: Props, text: string): Action {
  const { id, holder, position } = request;
  const priority = /^[+-]?\d+$/.test(text) ? Number(text) : text;
  return {
    verb: "Change priority",
    title: `Change the priority of ${holder}`,
    effects: [
      `${holder} was at position ${place ?? position} when this was opened. Requests with a higher priority go first.`,
      "Among requests of the same priority, the shares of the spaces and the arrival decide.",
    ],
    run: ({ by, reason }) =>
      berth.bump(id, { priority, by, reason: reason === "" ? "changed in the page" : reason }),
    done: `${holder} has priority ${text}`,
    isOfSpace: true,
  };
}
