export function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="mark" />
      <path d="M8 7v18M8 10h10a4 4 0 0 1 0 8H8m0 0h12a4 4 0 0 1 0 8H8" className="mark-line" />
    </svg>
  );
}
