import { Link } from "./link.tsx";

/** Links to the parent views. */
export function Crumbs({ trail }: { trail: readonly (readonly [label: string, href: string])[] }) {
  return (
    <nav className="crumbs" aria-label="Up">
      {trail.map(([label, href]) => (
        <Link key={href} href={href}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
