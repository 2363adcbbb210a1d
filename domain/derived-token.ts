import type { AnyContext } from './context'
import { MAC_TEXT, type MacPurpose } from './ports'

/** Tokens that are derived from the id of what they open, with a key that is not in the database; they are stored nowhere. */
export function derivedToken(prefix: string, purpose: MacPurpose) {
  const form = new RegExp(`^${prefix}(${MAC_TEXT})$`)
  return {
    create: ({ secrets }: AnyContext, id: string): string => prefix + secrets.mac(purpose, id).toString('base64url'),
    isOf({ secrets }: AnyContext, token: string, id: string): boolean {
      const mac = form.exec(token)?.[1]
      return mac !== undefined && secrets.macMatches(purpose, id, Buffer.from(mac, 'base64url'))
    },
  }
}
