import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { connection, whoami } from "../data/live.ts";
import { Store, useStore } from "../data/store.ts";
import { usePlace } from "../router.ts";
import { ActionDialog } from "./action-dialog.tsx";
import { type FocusPlace, focusAt, placeOf } from "./keep-focus.ts";

export interface Because {
  readonly by: string;
  readonly reason: string;
}

export interface Action {
  /** `Drain`: on the button. */
  readonly verb: string;
  /** `Drain aws-2`: above the question. */
  readonly title: string;
  /** On the button that does it, if that is not the verb. */
  readonly confirm?: string;
  /** What will happen, in sentences. */
  readonly effects: readonly string[];
  /** Items of the same list that are read while the dialog is open. */
  readonly impact?: ReactNode;
  readonly run: (because: Because) => Promise<unknown>;
  /** `aws-2 is drained`: shown afterwards. */
  readonly done: string;
  /** It takes back what somebody did or what went wrong, and needs no reason. */
  readonly isUndo?: boolean;
  /** A holder or a waiting client loses something. */
  readonly harmful?: boolean;
  /** It is about something of a space, which reads who did it, and why. */
  readonly isOfSpace?: boolean;
}

interface Props {
  readonly action: Action;
  /** The beginning of the verb, where the row says the rest. */
  readonly brief?: string;
  /** A dialog with more fields than name and reason. */
  readonly dialog?: (close: () => void) => ReactNode;
}

/** A button for operators. It opens a dialog that describes the effects. */
export function ActionButton({ action, brief = action.verb, dialog }: Props) {
  const us = useStore(whoami);
  const { state } = useStore(connection);
  if (us === null || !us.operator) return null;
  const plain = (close: () => void) => <ActionDialog action={action} onClose={close} />;
  return (
    <button
      type="button"
      className={action.harmful ? "act harmful" : "act"}
      // What the page shows may have changed, and nothing can be done.
      disabled={state === "lost"}
      title={state === "lost" ? "Not connected: nothing can be changed now" : undefined}
      onClick={() => question.set(dialog ?? plain)}
    >
      {brief}
      {brief === action.verb ? null : (
        <span className="hidden">{action.verb.slice(brief.length)}</span>
      )}
    </button>
  );
}

/** What is possible in a state. The action that comes in place of another, as Undrain of Drain, takes its button with the focus. */
export function ActionButtons({ actions }: { actions: readonly Action[] }) {
  return actions.map((action, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the place is what stays.
    <ActionButton key={index} action={action} />
  ));
}

const question = new Store<((close: () => void) => ReactNode) | null>(null);

/**
 * The open dialog. It is not part of the row whose button opened it: rows come and go with events,
 * and the dialog must not disappear while somebody uses it.
 */
export function OpenQuestion({ returnTo }: { returnTo: RefObject<HTMLElement | null> }) {
  const ask = useStore(question);
  const { path } = usePlace();
  // The dialog belongs to the view that it was opened in.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the path changes.
  useEffect(() => () => question.set(null), [path]);
  const asker = useRef<FocusPlace | undefined>(undefined);
  useLayoutEffect(() => {
    if (ask !== null) return;
    const { current: main } = returnTo;
    if (asker.current !== undefined && main !== null) focusAt(asker.current, main);
    asker.current = undefined;
  }, [ask, returnTo]);
  if (ask === null) return null;
  asker.current ??= placeOfFocus(returnTo.current);
  return ask(() => question.set(null));
}

function placeOfFocus(main: HTMLElement | null): FocusPlace | undefined {
  const { activeElement } = document;
  return main !== null && activeElement instanceof HTMLElement
    ? placeOf(activeElement, main)
    : undefined;
}

/** Explains why there are no buttons. */
export function NoActionsNote() {
  const us = useStore(whoami);
  if (us === null || us.operator) return null;
  const { authentication, name, role, refusal } = us;
  const why =
    authentication && name !== null && role !== null
      ? `only operators can act here, and ${name} has the role ${role}.`
      : `${refusal}.`;
  return <p className="aside-note">No actions: {why}</p>;
}
