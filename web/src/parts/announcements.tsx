import { Store, useStore } from "../data/store.ts";

const message = new Store("");

/** Announces the text to screen readers, and shows it for a short time. */
export function announce(text: string): void {
  message.set(text);
  setTimeout(() => {
    if (message.get() === text) message.set("");
  }, shownMs);
}

const shownMs = 6_000;

export function Announcements() {
  const text = useStore(message);
  return (
    <div className="announcement" role="status" aria-live="polite">
      {text}
    </div>
  );
}
