import { LocalTime } from '../ui/local-time'
import { RelativeTime } from '../ui/relative-time'

/** From when on something is so, and how long ago that was. */
export const Since = ({ time }: { time: string }) => (
  <>
    since <TimeAndAge time={time} />
  </>
)

export const TimeAndAge = ({ time }: { time: string }) => (
  <>
    <LocalTime dateTime={time} format="short" mayBreak /> (<RelativeTime dateTime={time} isOver />)
  </>
)
