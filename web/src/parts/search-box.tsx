import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { SearchHit } from "../../../src/api/schemas.ts";
import { useSettled } from "../data/clock.ts";
import { whoami } from "../data/live.ts";
import { useAnswer } from "../data/query.ts";
import { found } from "../data/questions.ts";
import { useStore } from "../data/store.ts";
import { hasKeyboard } from "../keyboard.ts";
import { at, go, usePlace } from "../router.ts";
import { viewsFor } from "../view-list.ts";
import { KeyCap } from "./key-cap.tsx";
import { grouped } from "./numbers.ts";
import { searchChoices } from "./search-choices.ts";
import { type Meant, meantBy, pageOf } from "./search-meant.ts";

const settleMs = 150;
const shownMax = 8;

/** Something to open: a hit of the server, or a view of the page. */
interface Choice {
  readonly kind: string;
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly match?: string;
  readonly href: string;
}

/** Searches views, pools, spaces, hubs, resources, holders and ids. Arrows select, Enter opens. */
export function SearchBox() {
  const [text, setText] = useTextOfPage();
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const { choices, state, counts, meant, isOld } = useChoices(text.trim());
  const isShown = open && text.trim() !== "";
  const leave = (to: string) => {
    setOpen(false);
    if (!to.startsWith("/search?")) setText("");
    go(to);
  };
  const setEntered = useEnter(isOld, () => leave(choices[chosen]?.href ?? pageOf(text)));
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && choices.length > 0)
      setChosen((chosen + step + choices.length) % choices.length);
    else if (event.key === "Enter") setEntered(text.trim() !== "");
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <search className="search keyed">
      <input
        id="search"
        type="search"
        role="combobox"
        aria-label="Search pools, resources, holders and ids"
        placeholder={hasKeyboard ? "Search everything" : "Search"}
        autoComplete="off"
        aria-expanded={isShown && choices.length > 0}
        aria-controls={list}
        aria-activedescendant={isShown && choices.length > 0 ? `${list}-${chosen}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
          setEntered(false);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          setEntered(false);
        }}
        onKeyDown={onKey}
      />
      <KeyCap name="/" />
      <div className="found" hidden={!isShown}>
        <div
          id={list}
          role="listbox"
          aria-label="Found"
          tabIndex={-1}
          hidden={choices.length === 0}
        >
          {choices.map((choice, index) => (
            <Option
              key={choice.href}
              id={`${list}-${index}`}
              choice={choice}
              text={text.trim()}
              chosen={index === chosen}
              onChoose={() => leave(choice.href)}
            />
          ))}
        </div>
        <BelowChoices {...{ state, counts, meant, text }} onChoose={leave} />
      </div>
    </search>
  );
}

/** Opens what is chosen of the answer to the whole text, which may come after the key: who types fast gets the same. */
function useEnter(isOld: boolean, open: () => void) {
  const [isPressed, setPressed] = useState(false);
  useEffect(() => {
    if (!isPressed || isOld) return;
    setPressed(false);
    open();
  });
  return setPressed;
}

/** On the page of what was found, the text that it was found for; elsewhere it begins empty. */
function useTextOfPage() {
  const { path, query } = usePlace();
  const searched = path === "/search" ? (query.get("q") ?? "") : "";
  const state = useState(searched);
  const [, setText] = state;
  useEffect(() => setText(searched), [searched]);
  return state;
}

interface BelowProps extends Omit<Choices, "choices" | "isOld"> {
  readonly text: string;
  readonly onChoose: (to: string) => void;
}

/** What to do where the choices end. */
function BelowChoices({ state, counts, meant, text, onChoose }: BelowProps) {
  if (state === "all") return null;
  if (state === "searching") return <p role="status">Searching …</p>;
  if (state === "more") {
    const all = `Show all ${grouped(counts)} found`;
    return (
      <p>
        <Way to={pageOf(text)} text={all} onChoose={onChoose} />
      </p>
    );
  }
  return (
    <p role="status">
      Nothing found.{" "}
      {meant === undefined ? null : (
        <>
          Did you mean <Way to={meant.href} text={meant.label} onChoose={onChoose} />?{" "}
        </>
      )}
      <Way to={pastOf(text)} text="Search past leases" onChoose={onChoose} />
    </p>
  );
}

interface WayProps {
  readonly to: string;
  readonly text: string;
  readonly onChoose: (to: string) => void;
}

/** A link below the choices. */
function Way({ to, text, onChoose }: WayProps) {
  return (
    <a
      href={to}
      onMouseDown={(event) => {
        event.preventDefault(); // The input would lose the focus, and the link its place.
        onChoose(to);
      }}
    >
      {text}
    </a>
  );
}

interface Choices {
  /** Its answer has not come yet. */
  readonly isOld: boolean;
  readonly choices: readonly Choice[];
  readonly state: "searching" | "nothing" | "more" | "all";
  /** How many were found. */
  readonly counts: number;
  /** What somebody may have meant who found nothing. */
  readonly meant: Meant | undefined;
}

function useChoices(text: string): Choices {
  const settled = useSettled(text, settleMs);
  const { data, error } = useAnswer(found(settled));
  const views = viewsFor(useStore(whoami));
  const isView = ({ label }: { label: string }) =>
    text.length >= 3 && label.toLowerCase().startsWith(text.toLowerCase());
  const named = views.filter(isView).map(({ href, label }) => {
    return { kind: "view", name: label, title: label, about: "", href };
  });
  const hits = (data?.items ?? []).map((hit) => ({ ...hit, href: addressOf(hit) }));
  const all: Choice[] = text === "" ? [] : searchChoices<Choice>(named, hits, text, shownMax);
  const counts = Object.values(data?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  const isOld = (data === undefined && error === undefined) || settled !== text;
  const isMore = data?.more === true || named.length + hits.length > all.length;
  return {
    ...{ choices: all, counts, isOld, meant: meantBy(text, data?.meant, views) },
    state: all.length > 0 ? (isMore ? "more" : "all") : isOld ? "searching" : "nothing",
  };
}

interface OptionProps {
  readonly id: string;
  readonly choice: Choice;
  readonly text: string;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

function Option({ id, choice, text, chosen, onChoose }: OptionProps) {
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
      <small>{choice.kind}</small>{" "}
      <b>
        <Marked name={choice.title} text={text} />
      </b>{" "}
      <span>
        {choice.about} {choice.match === undefined ? null : <q>{choice.match}</q>}
        <FoundId of={choice} text={text} />
      </span>
    </div>
  );
}

/** The id, if the text is the start of it. */
function FoundId({ of: { name, title }, text }: { of: Choice; text: string }) {
  if (name === title || !name.toLowerCase().startsWith(text.toLowerCase())) return null;
  return <Marked name={name} text={text} />;
}

/** The name, with the text that was found in it marked. */
function Marked({ name, text }: { name: string; text: string }) {
  const from = name.toLowerCase().indexOf(text.toLowerCase());
  if (from === -1) return name;
  const to = from + text.length;
  return (
    <>
      {name.slice(0, from)}
      <mark>{name.slice(from, to)}</mark>
      {name.slice(to)}
    </>
  );
}

/** Leases that have ended are in the history. */
export function pastOf(text: string): string {
  return `/history?q=${encodeURIComponent(text.trim())}#past-title`;
}

export function addressOf({ kind, name }: SearchHit): string {
  if (kind === "hub") return `/hubs?q=${encodeURIComponent(name)}`;
  if (kind === "space") return `/spaces#${encodeURIComponent(name)}`;
  return at(`${kind}s`, name);
}
