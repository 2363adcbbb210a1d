import { Children, type ReactNode } from 'react'

/** A name or an address inside a text. */
export const bold = (text: ReactNode) => (
  <bdi className="wrap-anywhere font-medium text-ink">{withWholeHyphens(text)}</bdi>
)

/** No line ends with a hyphen of the text: an address would read like a divided word. */
export const withWholeHyphens = (text: ReactNode) =>
  Children.map(text, (each) =>
    typeof each !== 'string'
      ? each
      : each.split(/(\S-\S)/).map((part, index) =>
          index % 2 === 0 ? (
            part
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
            <span key={index} className="whitespace-nowrap">
              {part}
            </span>
          ),
        ),
  )
