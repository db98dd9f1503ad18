import { useEffect, useRef } from "react";
import { whoami } from "../data/live.ts";
import { Store, useStore } from "../data/store.ts";
import { viewsFor } from "../view-list.ts";

const isOpen = new Store(false);

/** Opens the list of the keys, or closes it. */
export function toggleKeyList(): void {
  isOpen.set(!isOpen.get());
}

type Key = readonly [key: string, does: string];

const inLists: readonly Key[] = [
  ["f", "filter the list, Enter goes to its first row"],
  ["j", "next row"],
  ["k", "previous row"],
  ["Enter", "open the row"],
  ["Tab", "what can be done with the row"],
];

const anywhere: readonly Key[] = [
  ["/", "search everything, ↓ and Enter choose"],
  ["Esc", "close a dialog, leave a field"],
  ["?", "show these keys"],
];

export function KeyList() {
  return useStore(isOpen) ? <KeyDialog /> : null;
}

function KeyDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => isOpen.set(false);
  const views = viewsFor(useStore(whoami));
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" className="keys" onClose={close}>
      <h2 id="keys-title">Keys</h2>
      <div className="key-groups">
        <Keys title="Go to" keys={views.map(({ key, label }) => [`g ${key}`, label])} />
        <div>
          <Keys title="In lists" keys={inLists} />
          <Keys title="Anywhere" keys={anywhere} />
        </div>
      </div>
      <div className="buttons">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly Key[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
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
    </section>
  );
}
