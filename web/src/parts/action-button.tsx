import { type ReactNode, useRef, useState } from "react";
import { whoami } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import { ActionDialog } from "./action-dialog.tsx";

export interface Because {
  readonly by: string;
  readonly reason: string;
}

export interface Action {
  /** `Drain`: on the button. */
  readonly verb: string;
  /** `Drain aws-2`: above the question. */
  readonly title: string;
  /** What will happen, in sentences. */
  readonly effects: readonly string[];
  readonly run: (because: Because) => Promise<unknown>;
  /** `aws-2 is drained`: said afterwards. */
  readonly done: string;
  /** Somebody loses something by it. */
  readonly harmful?: boolean;
}

interface Props {
  readonly action: Action;
  /** What it wants to know besides who and why. */
  readonly children?: ReactNode;
}

/** What operators may do. It asks first, and says what will happen. */
export function ActionButton({ action, children }: Props) {
  const us = useStore(whoami);
  const button = useRef<HTMLButtonElement>(null);
  const [asking, setAsking] = useState(false);
  if (us === null || !us.operator) return null;
  return (
    <>
      <button
        ref={button}
        type="button"
        className={action.harmful ? "act harmful" : "act"}
        onClick={() => setAsking(true)}
      >
        {action.verb}
      </button>
      {asking ? (
        <ActionDialog
          action={action}
          onClose={() => {
            setAsking(false);
            button.current?.focus();
          }}
        >
          {children}
        </ActionDialog>
      ) : null}
    </>
  );
}

/** Why there are no buttons, where there would be some. */
export function NoActionsNote() {
  const us = useStore(whoami);
  if (us === null || us.operator) return null;
  return <p className="aside-note">There are no actions here: {us.refusal}.</p>;
}
