import { announce, useFact } from '../ui/page-fact'

let left: number | undefined
let forgetting: ReturnType<typeof setTimeout> | undefined

function note(places?: number) {
  left = places
  announce()
}

/** Learns from an answer how many more changes of the address the limit allows, until the next place comes free. */
export function noteChangesLeft({ headers }: Response) {
  const [, places, seconds] = /"change";r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? []
  if (!places) return
  note(Number(places))
  clearTimeout(forgetting)
  forgetting = setTimeout(note, Number(seconds) * 1000)
}

/** Undefined where no answer of this page told it. */
export const useChangesLeft = () => useFact(() => left, undefined)
