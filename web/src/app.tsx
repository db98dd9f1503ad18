import { useEffect, useRef } from "react";
import { connection, lastSeq, retry, signingIn, whoami } from "./data/live.ts";
import { returning } from "./data/sign-in.ts";
import { useStore } from "./data/store.ts";
import { useKeys } from "./keys.ts";
import { SignIn } from "./pages/sign-in.tsx";
import { OpenQuestion } from "./parts/action-button.tsx";
import { Announcements } from "./parts/announcements.tsx";
import { ConnectionLine } from "./parts/connection-line.tsx";
import { focusWhenThere, useKeptFocus } from "./parts/keep-focus.ts";
import { KeyList, toggleKeyList } from "./parts/key-list.tsx";
import { Link } from "./parts/link.tsx";
import { Mark } from "./parts/mark.tsx";
import { useHasMenu } from "./parts/phone.ts";
import { SearchBox } from "./parts/search-box.tsx";
import { SignedIn } from "./parts/signed-in.tsx";
import { leftBy, usePlace } from "./router.ts";
import { nextTheme, theme } from "./theme.ts";
import { viewsFor } from "./view-list.ts";
import { viewAt } from "./views.tsx";

export function App() {
  const { path } = usePlace();
  const main = useRef<HTMLElement>(null);
  useKeys(main);
  useArrival(path, main);
  useKeptFocus(main);
  const view = viewAt(path);
  useEffect(() => {
    document.title = view.title === "Pools" ? "Berth" : `${view.title} · Berth`;
  }, [view.title]);
  const us = useStore(whoami);
  const line = useStore(connection);
  const wantsToSignIn = useStore(signingIn);
  const { state } = useStore(returning);
  if (state === "finishing") return <p className="loading">Signing in …</p>;
  if (wantsToSignIn || state === "failed" || (us?.authentication && us.name === null))
    return <SignIn />;
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link className="brand" href="/">
          <Mark /> Berth
        </Link>
        <Navigation path={path} />
        <SearchBox />
        <Corner />
      </header>
      <ConnectionLine connection={line} onRetry={retry} />
      <main id="main" ref={main} tabIndex={-1}>
        {view.show()}
      </main>
      <OpenQuestion returnTo={main} />
      <KeyList />
      <Announcements />
    </>
  );
}

/**
 * Moves the focus to the new view, so that a screen reader announces it. Back leads to the link that the view was left by:
 * who goes through a list is not sent to its beginning.
 */
function useArrival(path: string, main: React.RefObject<HTMLElement | null>) {
  const arrivedAt = useRef(path);
  useEffect(() => {
    const { current: view } = main;
    if (arrivedAt.current === path || view === null) return;
    arrivedAt.current = path;
    view.focus({ preventScroll: true });
    const href = leftBy();
    return href === null ? undefined : focusWhenThere(view, linkTo(href));
  }, [path, main]);
}

function linkTo(href: string): string {
  return `a[href="${CSS.escape(href)}"]`;
}

function Navigation({ path }: { path: string }) {
  const nav = useRef<HTMLElement>(null);
  const shown = viewsFor(useStore(whoami));
  // On a phone not all links fit. Scrolls the row (not the page) so that the current link is
  // visible. More links are there once it is known who reads the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the links move when more of them come.
  useEffect(() => {
    const here = path === "" ? null : nav.current?.querySelector<HTMLElement>("[aria-current]");
    const row = nav.current;
    if (!here || row === null) return;
    row.scrollTo({ left: here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2 });
  }, [path, shown.length]);
  return (
    <nav id="views" aria-label="Views" ref={nav}>
      <ViewLinks path={path} />
    </nav>
  );
}

function ViewLinks({ path }: { path: string }) {
  return viewsFor(useStore(whoami)).map(({ href, label }) => (
    <Link key={href} href={href} aria-current={isAt(path, href) ? "page" : undefined}>
      {label}
    </Link>
  ));
}

function isAt(path: string, href: string): boolean {
  if (href === "/") return /^\/($|pools\/|resources\/)/.test(path);
  const below: Readonly<Record<string, string>> = { "/queue": "/requests/", "/clusters": "/hubs" };
  return path.startsWith(href) || path.startsWith(below[href] ?? href);
}

function Corner() {
  const { state } = useStore(connection);
  const last = useStore(lastSeq);
  const hasMenu = useHasMenu();
  const words = state === "live" ? "live" : state === "lost" ? "not connected" : "connecting";
  return (
    <div className="corner">
      <span
        className={`pulse ${state}`}
        title={last === undefined ? words : `${words}, event ${last}`}
      >
        {words}
      </span>
      {hasMenu ? <Menu /> : <Tools />}
    </div>
  );
}

function Menu() {
  const place = usePlace();
  const menu = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link of it has led elsewhere.
  useEffect(() => menu.current?.hidePopover(), [place]);
  return (
    <>
      <button type="button" className="quiet" popoverTarget="menu">
        Menu
      </button>
      <div id="menu" popover="auto" className="menu" ref={menu}>
        <nav aria-label="All views">
          <ViewLinks path={place.path} />
        </nav>
        <Tools />
      </div>
    </>
  );
}

const themeWords = { system: "auto", light: "light", dark: "dark" };

/** In the corner, or in a menu if that is too narrow. */
function Tools() {
  const name = useStore(theme);
  const us = useStore(whoami);
  return (
    <>
      <SignedIn />
      <button
        type="button"
        className="quiet"
        onClick={nextTheme}
        title={`Theme: ${themeWords[name]}`}
      >
        <span className="short" aria-hidden="true">
          ◐{" "}
        </span>
        <span className="long">Theme: </span>
        {themeWords[name]}
      </button>
      <button type="button" className="quiet with-keys" onClick={toggleKeyList} title="Keys">
        <span className="long">Keys </span>
        <span className="short">?</span>
      </button>
      <a className="quiet" href="/docs" title={us === null ? "" : `Berth ${us.version}`}>
        API<span className="long"> and its documentation</span>
      </a>
    </>
  );
}
