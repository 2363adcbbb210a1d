import type { ReactNode } from 'react'

/** What `<list>` and `<li>` are in a text. */
export const list = {
  list: (items: ReactNode) => <ul className="mt-1 list-disc space-y-1 ps-5">{items}</ul>,
  li: (text: ReactNode) => <li>{text}</li>,
}
