import { type KeyboardEvent, useId, useState } from "react";
import type { SearchHit } from "../../../src/api/schemas.ts";
import { useSettled } from "../data/clock.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { at, go } from "../router.ts";

const settleMs = 150;
const shownMax = 8;

/** Searches pools, resources, holders and ids. Arrows select, Enter opens. */
export function SearchBox() {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const { data } = useAnswer(found(useSettled(text.trim(), settleMs)));
  const hits = text.trim() === "" ? [] : (data?.items ?? []).slice(0, shownMax);
  const leave = (to: string) => {
    setOpen(false);
    setText("");
    go(to);
  };
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const hit = hits[chosen];
    if (step !== 0 && hits.length > 0) setChosen((chosen + step + hits.length) % hits.length);
    else if (event.key === "Enter" && hit !== undefined) leave(addressOf(hit));
    else if (event.key === "Enter") leave(`/search?q=${encodeURIComponent(text.trim())}`);
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <search className="search">
      <input
        id="search"
        type="search"
        role="combobox"
        aria-label="Search pools, resources, holders and ids"
        placeholder="Search everything  /"
        autoComplete="off"
        aria-expanded={open && hits.length > 0}
        aria-controls={list}
        aria-activedescendant={open && hits.length > 0 ? `${list}-${chosen}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <div
        id={list}
        role="listbox"
        aria-label="Found"
        tabIndex={-1}
        hidden={!open || hits.length === 0}
      >
        {hits.map((hit, index) => (
          <Hit
            key={`${hit.kind} ${hit.name}`}
            id={`${list}-${index}`}
            hit={hit}
            chosen={index === chosen}
            onChoose={() => leave(addressOf(hit))}
          />
        ))}
      </div>
    </search>
  );
}

function Hit(props: { id: string; hit: SearchHit; chosen: boolean; onChoose: () => void }) {
  const { id, hit, chosen, onChoose } = props;
  return (
    // The input keeps the focus so that the keys still work, hence `mousedown` and no key handler
    // here.
    <div
      id={id}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      onMouseDown={(event) => {
        event.preventDefault();
        onChoose();
      }}
    >
      <small>{hit.kind}</small> <b>{hit.name}</b> <span>{hit.about}</span>
    </div>
  );
}

export function addressOf({ kind, name }: SearchHit): string {
  return at(`${kind}s`, name);
}
