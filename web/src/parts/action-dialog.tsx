import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { serverNowMs } from "../data/berth.ts";
import { connection, whoami } from "../data/live.ts";
import { useStore } from "../data/store.ts";
import type { Action } from "./action-button.tsx";
import { announce } from "./announcements.tsx";
import { ProblemNote } from "./notes.tsx";
import { overWords } from "./over-words.ts";
import { readerWords } from "./reader-words.ts";

/** The browser remembers the name for the next action. */
const nameKey = "berth.operator";

interface Props {
  readonly action: Action;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function ActionDialog({ action, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const us = useStore(whoami);
  const { state } = useStore(connection);
  const signedInAs = us?.authentication ? us.name : null;
  const [by, setBy] = useState(() => localStorage.getItem(nameKey) ?? "");
  const [reason, setReason] = useState("");
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const [over, setOver] = useState<string | undefined>(undefined);
  useEffect(() => dialog.current?.showModal(), []);
  const run = async () => {
    setRunning(true);
    setError(undefined);
    try {
      if (signedInAs === null) localStorage.setItem(nameKey, by.trim());
      await action.run({ by: signedInAs ?? by.trim(), reason: reason.trim() });
      announce(action.done);
      onClose();
    } catch (problem) {
      setOver(overWords(problem, serverNowMs()));
      setError(problem);
      setRunning(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run();
  };
  if (over !== undefined) {
    return (
      <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
        <h2 id={title}>{action.title}</h2>
        <p role="alert">{over}</p>
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </dialog>
    );
  }
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={title}>{action.title}?</h2>
        <ul>
          {action.effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
          {action.impact}
        </ul>
        {children}
        {signedInAs === null ? (
          <label>
            <span>
              Your name <small>(required)</small>
            </span>
            <input
              required
              maxLength={256}
              value={by}
              autoComplete="name"
              onChange={(event) => setBy(event.target.value)}
            />
          </label>
        ) : null}
        <label>
          <span>
            Why <small>({action.isUndo === true ? "optional" : "required"})</small>
          </span>
          <input
            required={action.isUndo !== true}
            maxLength={1_024}
            value={reason}
            placeholder="Shown in the event log"
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
        <small>{readerWords(signedInAs, action.isOfSpace === true)}</small>
        <ProblemNote
          error={error}
          unanswered="It may have been done. Look at the page, then try again if it was not."
        />
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={action.harmful ? "act harmful" : "act"}
            disabled={running || state === "lost"}
          >
            {action.confirm ?? action.verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}
