import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Resource } from "../../../src/api/schemas.ts";
import { FilterBox } from "../parts/filter-box.tsx";
import { EmptyNote } from "../parts/notes.tsx";
import { grouped } from "../parts/numbers.ts";
import { useIsPhone } from "../parts/phone.ts";
import { StateChip } from "../parts/state-chip.tsx";
import { inOrder } from "../parts/state-look.ts";
import { useSteadyOrder } from "../parts/steady-order.ts";
import { useFilter } from "../router.ts";
import { ResourceTile } from "./resource-tile.tsx";
import { inTileOrder, withoutFree } from "./tile-order.ts";

interface Props {
  readonly resources: readonly Resource[];
}

/** In pixels: the narrowest and the widest tile. */
const tileWidths = { least: 190, most: 330 };
/** The width of a letter, and of the state and the edges beside the name. */
const letterWidth = 7.3;
const besideName = 70;
const rowHeight = 82;
const rowsAhead = 6;

/** Wide enough for the longest name. Holders come and go, and tiles must not move with them. */
function tileWidthFor(resources: readonly Resource[]): number {
  const letters = resources.reduce((most, { name }) => Math.max(most, name.length), 0);
  const wanted = Math.ceil(letters * letterWidth + besideName);
  return Math.min(tileWidths.most, Math.max(tileWidths.least, wanted));
}

/** Every resource as a tile. Only visible tiles are drawn, so that ten thousand cost no more. */
export function ResourceGrid({ resources }: Props) {
  const [text] = useFilter("q");
  const [state, setState] = useFilter("state");
  const counts = useMemo(() => countStates(resources), [resources]);
  const shown = useMemo(() => {
    const wanted = text.toLowerCase();
    return resources.filter(
      ({ name, lease, ...resource }) =>
        (state === "" || resource.state === state) &&
        (name.toLowerCase().includes(wanted) ||
          (lease?.holder.toLowerCase().includes(wanted) ?? false)),
    );
  }, [resources, text, state]);
  if (resources.length === 0) {
    return (
      <EmptyNote title="This pool has no resources">
        Give it a <code>count</code> or <code>members</code> in the configuration file.
      </EmptyNote>
    );
  }
  return (
    <>
      <div className="tools">
        <FilterBox label="Filter by name or holder" />
        <fieldset className="choice">
          <legend className="hidden">State</legend>
          {inOrder(counts).map(([name, count]) => (
            <button
              key={name}
              type="button"
              aria-pressed={state === name}
              onClick={() => setState(state === name ? "" : name)}
            >
              <StateChip state={name} count={count} />
            </button>
          ))}
        </fieldset>
        <span className="count" aria-live="polite">
          {shown.length === resources.length ? "" : `${grouped(shown.length)} shown`}
        </span>
      </div>
      {shown.length === 0 ? (
        <EmptyNote title="No resource matches">
          Choose another state, or change the filter.
        </EmptyNote>
      ) : (
        <FoldedTiles resources={shown} isWhole={text === "" && state === ""} />
      )}
    </>
  );
}

interface FoldedProps extends Props {
  /** No filter asks for some of them. */
  readonly isWhole: boolean;
}

/** Many free ones are one line, unless somebody looks for them. */
function FoldedTiles({ resources, isWhole }: FoldedProps) {
  const isPhone = useIsPhone();
  const [free, setFree] = useFilter("free");
  const { items, list } = useSteadyOrder<Resource, HTMLDivElement>(
    useMemo(() => inTileOrder(resources), [resources]),
    ({ name }) => name,
  );
  const { tiles, folded } = useMemo(() => withoutFree(items, isPhone), [items, isPhone]);
  const folds = isWhole && folded > 0;
  const shown = folds && free === "" ? tiles : items;
  return (
    <div ref={list}>
      {shown.length === 0 ? null : <Tiles resources={shown} />}
      {folds ? (
        <button
          type="button"
          className="more"
          data-row
          onClick={() => setFree(free === "" ? "show" : "")}
        >
          {free === "" ? "Show" : "Hide"} {grouped(folded)} free
        </button>
      ) : null}
    </div>
  );
}

function countStates(resources: readonly Resource[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of resources) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function Tiles({ resources }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const [columns, setColumns] = useState(1);
  const [top, setTop] = useState(0);
  const widthMin = useMemo(() => tileWidthFor(resources), [resources]);
  useLayoutEffect(() => {
    const measure = () => {
      if (list.current === null) return;
      setColumns(Math.max(1, Math.floor(list.current.clientWidth / widthMin)));
      setTop(list.current.getBoundingClientRect().top + window.scrollY);
    };
    const watch = new ResizeObserver(measure);
    watch.observe(document.body); // The content above may grow and move this down.
    measure();
    return () => watch.disconnect();
  }, [widthMin]);
  const { focused, ...focusing } = useFocusedTile(resources);
  const rangeExtractor = useCallback(
    (range: Range) => withNeighbours(range, focused === -1 ? -1 : Math.floor(focused / columns)),
    [focused, columns],
  );
  const rows = useWindowVirtualizer({
    count: Math.ceil(resources.length / columns),
    rangeExtractor,
    estimateSize: () => rowHeight,
    overscan: rowsAhead,
    scrollMargin: top,
  });
  return (
    <ul ref={list} className="tiles" style={{ height: rows.getTotalSize() }} {...focusing}>
      {rows.getVirtualItems().flatMap((row) => {
        const first = row.index * columns;
        return resources
          .slice(first, first + columns)
          .map((resource, column) => (
            <ResourceTile
              key={resource.name}
              resource={resource}
              place={first + column + 1}
              of={resources.length}
              left={`${(column * 100) / columns}%`}
              top={row.start - top}
              width={`${100 / columns}%`}
            />
          ));
      })}
    </ul>
  );
}

/**
 * The index of the tile with the focus, or -1. This tile stays on the page even when it is scrolled
 * out of sight: removing it would lose the focus, and keyboard users would start at the top again.
 */
function useFocusedTile(resources: readonly Resource[]) {
  const [place, setPlace] = useState("");
  const focused = useMemo(
    () => (place === "" ? -1 : resources.findIndex(({ name }) => name === place)),
    [resources, place],
  );
  return {
    focused,
    onFocus: ({ target }: FocusEvent<HTMLElement>) =>
      setPlace(target.closest<HTMLElement>(".tile")?.dataset["name"] ?? ""),
    // Keeps the focus when the user changes to another window. With Tab, this runs before the next
    // tile has the focus, so that tile must still exist.
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
      if (document.hasFocus() && !currentTarget.contains(relatedTarget)) setPlace("");
    },
  };
}

/**
 * The visible rows, and the row with the focus with its neighbours: the next tile may be in one.
 */
function withNeighbours(range: Range, row: number): number[] {
  const inSight = defaultRangeExtractor(range);
  if (row === -1) return inSight;
  const kept = [row - 1, row, row + 1].filter((index) => index >= 0 && index < range.count);
  return [...new Set([...kept, ...inSight])].sort((a, b) => a - b);
}
