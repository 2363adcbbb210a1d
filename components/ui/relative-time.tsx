'use client'

import { useServerTime } from './server-clock'

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

interface RelativeTimeProps {
  dateTime: string
  renderedAt: string
}

/** Such as “just now”, “5 minutes ago” or “in 3 days”. */
export function RelativeTime({ dateTime, renderedAt }: RelativeTimeProps) {
  const seconds = (Date.parse(dateTime) - useServerTime(renderedAt)) / 1000
  return <time dateTime={dateTime}>{distance(seconds)}</time>
}

function distance(seconds: number): string {
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? []
  if (!unit || !size) return 'just now'
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / size), unit)
}
