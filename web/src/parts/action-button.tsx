import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { whoami } from "../data/live.ts";
import { Store, useStore } from "../data/store.ts";
import { usePlace } from "../router.ts";
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
  /** Asks for more than who and why; the plain question unless given. */
  readonly dialog?: (close: () => void) => ReactNode;
}

/** What operators may do. It asks first, and says what will happen. */
export function ActionButton({ action, dialog }: Props) {
  const us = useStore(whoami);
  if (us === null || !us.operator) return null;
  const plain = (close: () => void) => <ActionDialog action={action} onClose={close} />;
  return (
    <button
      type="button"
      className={action.harmful ? "act harmful" : "act"}
      onClick={() => question.set(dialog ?? plain)}
    >
      {action.verb}
    </button>
  );
}

const question = new Store<((close: () => void) => ReactNode) | null>(null);

/**
 * The question that is open. It does not stand in the row whose button asked for it: rows come and go
 * as things happen, and a question must not vanish from under somebody's hands.
 */
export function OpenQuestion({ returnTo }: { returnTo: RefObject<HTMLElement | null> }) {
  const ask = useStore(question);
  const { path } = usePlace();
  // It is about what the view showed that it was asked in.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it ends with the path, whatever that is.
  useEffect(() => () => question.set(null), [path]);
  const asker = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (ask !== null) return;
    const { current } = asker;
    if (current === null) return;
    const still = current instanceof HTMLElement && current.isConnected;
    (still ? current : returnTo.current)?.focus({ preventScroll: true });
    asker.current = null;
  }, [ask, returnTo]);
  if (ask === null) return null;
  asker.current ??= document.activeElement;
  return ask(() => question.set(null));
}

/** Why there are no buttons, where there would be some. */
export function NoActionsNote() {
  const us = useStore(whoami);
  if (us === null || us.operator) return null;
  return <p className="aside-note">There are no actions here: {us.refusal}.</p>;
}
