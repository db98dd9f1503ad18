import { useEffect, useRef } from "react";
import { Store, useStore } from "../data/store.ts";

const isOpen = new Store(false);

/** Opens the list of the keys, or closes it. */
export function toggleKeyList(): void {
  isOpen.set(!isOpen.get());
}

const keys: readonly (readonly [key: string, does: string])[] = [
  ["/", "search everything"],
  ["f", "filter the view"],
  ["j", "next row"],
  ["k", "previous row"],
  ["Enter", "open the row"],
  ["g p", "go to the pools"],
  ["g q", "go to the queue"],
  ["g l", "go to the leases"],
  ["g o", "go to what is out of service"],
  ["g h", "go to the history"],
  ["g e", "go to the events"],
  ["Esc", "close a dialog, leave a field"],
  ["?", "this list"],
];

export function KeyList() {
  return useStore(isOpen) ? <KeyDialog /> : null;
}

function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => isOpen.set(false);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" className="keys" onClose={close}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="buttons">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}
