import type { ReactNode } from "react";

interface Props {
  readonly title: ReactNode;
  /** Its state. */
  readonly chip?: ReactNode;
  /** What can be done with it. */
  readonly children?: ReactNode;
}

/** The head of a page about one thing: what it is, its state, and what can be done with it. */
export function PageHead({ title, chip, children }: Props) {
  return (
    <div className="page-head">
      <h1>
        {title} {chip}
      </h1>
      <div className="page-actions">{children}</div>
    </div>
  );
}
