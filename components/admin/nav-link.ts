/** The class of a navigation link. It marks the link to the page itself. */
export const navLink =
  'flex items-center rounded-lg text-ink-muted hover:bg-sunken hover:text-ink aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-ink'
