import type { AnyContext } from './context'

/** Encrypts an object for a row or a cookie. */
export const seal = ({ secrets }: AnyContext, content: object): Buffer => secrets.seal(JSON.stringify(content))

/** What `seal` was given; null if there is nothing, or no configured key opens it. */
export function openSealed<Content>({ secrets }: AnyContext, sealed: Buffer | null): Content | null {
  const opened = sealed && secrets.open(sealed)
  return opened && (JSON.parse(opened.toString()) as Content)
}
